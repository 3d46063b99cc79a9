// Command floor is the least a client can do to apply a folder of Deployments and wait for them: the
// yardstick for tools that do more.
//
// It sends one server-side apply per file over one HTTP/2 connection, with a fixed number of requests
// in flight, and takes its verdicts from one watch. It knows nothing of inventories, conflicts, retries
// or failures. Files are named KIND.NAME.yaml; kinds other than namespace and deployment are left out.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type client struct {
	http   *http.Client
	server string
	token  string
}

func (c *client) do(method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "floor")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return response, nil
}

func (c *client) apply(path string, manifest []byte) error {
	response, err := c.do("PATCH", path+"?fieldManager=floor&force=true", "application/apply-patch+yaml", manifest)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

type event struct {
	Type   string
	Object struct {
		Metadata struct {
			Name       string
			Generation int64
		}
		Spec   struct{ Replicas int64 }
		Status struct {
			ObservedGeneration int64
			Replicas           int64
			UpdatedReplicas    int64
			AvailableReplicas  int64
		}
	}
}

func (e *event) settled() bool {
	object := &e.Object
	status := &object.Status
	return status.ObservedGeneration == object.Metadata.Generation && status.Replicas == object.Spec.Replicas &&
		status.UpdatedReplicas == status.Replicas && status.AvailableReplicas == status.Replicas
}

// watch returns after all wanted Deployments have settled at some time.
func (c *client) watch(namespace string, wanted map[string]bool) (events int, err error) {
	response, err := c.do("GET", "/apis/apps/v1/namespaces/"+namespace+"/deployments?watch=1", "", nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for len(wanted) > 0 {
		var event event
		if err := decoder.Decode(&event); err != nil {
			return events, err
		}
		events++
		if event.settled() {
			delete(wanted, event.Object.Metadata.Name)
		}
	}
	return events, nil
}

func run() error {
	server := flag.String("server", "", "address of the API server")
	ca := flag.String("ca", "", "file with its CA certificate")
	token := flag.String("token", "", "bearer token")
	dir := flag.String("dir", "", "folder of manifests")
	flight := flag.Int("in-flight", 16, "requests in flight")
	flag.Parse()

	pem, err := os.ReadFile(*ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := &client{
		http: &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: true,
		}},
		server: *server,
		token:  *token,
	}

	files, err := filepath.Glob(filepath.Join(*dir, "*.yaml"))
	if err != nil {
		return err
	}
	var namespace string
	manifests := map[string][]byte{}
	start := time.Now()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parts := strings.SplitN(filepath.Base(file), ".", 3)
		switch parts[0] {
		case "namespace":
			namespace = parts[1]
			if err := c.apply("/api/v1/namespaces/"+namespace, text); err != nil {
				return err
			}
		case "deployment":
			manifests[parts[1]] = text
		}
	}

	names := make(chan string)
	failures := make(chan error, *flight+1)
	var writers sync.WaitGroup
	for range *flight {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for name := range names {
				path := "/apis/apps/v1/namespaces/" + namespace + "/deployments/" + name
				if err := c.apply(path, manifests[name]); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	wanted := map[string]bool{}
	for name := range manifests {
		wanted[name] = true
	}
	events, settled := 0, make(chan error, 1)
	go func() {
		var err error
		events, err = c.watch(namespace, wanted)
		settled <- err
	}()

	for name := range manifests {
		select {
		case names <- name:
		case err := <-failures:
			return err
		}
	}
	close(names)
	writers.Wait()
	applied := time.Since(start)
	select {
	case err := <-failures:
		return err
	case err := <-settled:
		if err != nil {
			return err
		}
	}
	fmt.Printf("applied after %.2f s, settled after %.2f s, %d watch events\n",
		applied.Seconds(), time.Since(start).Seconds(), events)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

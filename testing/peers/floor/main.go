// Command floor is the least a client can do to apply a set of objects and wait for them: the yardstick
// for tools that do more.
//
// It sends one server-side apply per object over one HTTP/2 connection, with a fixed number of requests
// in flight, and takes its verdicts from one watch. It knows nothing of kinds, inventories, conflicts or
// failures: an index tells for every object the stage in which it is sent, its path and its file. A
// stage starts when the one before was accepted; a type that is not served yet is asked for again.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
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
	return c.http.Do(request)
}

// apply sends one object until its type is served.
func (c *client) apply(path string, manifest []byte) error {
	for {
		response, err := c.do("PATCH", path+"?fieldManager=floor&force=true", "application/apply-patch+yaml", manifest)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		switch {
		case err != nil:
			return err
		case response.StatusCode == http.StatusNotFound:
			time.Sleep(100 * time.Millisecond)
		case response.StatusCode >= 300:
			return fmt.Errorf("PATCH %s: %s: %s", path, response.Status, text)
		default:
			return nil
		}
	}
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

// watch returns after all wanted Deployments of a list path have settled at some time.
func (c *client) watch(list string, wanted map[string]bool) error {
	response, err := c.do("GET", list+"?watch=1", "", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for len(wanted) > 0 {
		var event event
		if err := decoder.Decode(&event); err != nil {
			return err
		}
		if event.settled() {
			delete(wanted, event.Object.Metadata.Name)
		}
	}
	return nil
}

type object struct {
	stage, path string
	manifest    []byte
}

func readIndex(file string) ([]object, error) {
	index, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer index.Close()
	var objects []object
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s: stage, path and file expected: %q", file, lines.Text())
		}
		manifest, err := os.ReadFile(parts[2])
		if err != nil {
			return nil, err
		}
		objects = append(objects, object{parts[0], parts[1], manifest})
	}
	slices.SortStableFunc(objects, func(a, b object) int { return strings.Compare(a.stage, b.stage) })
	return objects, lines.Err()
}

// send applies objects that may be sent side by side.
func (c *client) send(objects []object, flight int) error {
	next := make(chan object)
	failures := make(chan error, flight)
	var writers sync.WaitGroup
	for range flight {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for object := range next {
				if err := c.apply(object.path, object.manifest); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	failed := func() error {
		for _, object := range objects {
			select {
			case next <- object:
			case err := <-failures:
				return err
			}
		}
		return nil
	}()
	close(next)
	writers.Wait()
	if failed != nil {
		return failed
	}
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

func run() error {
	server := flag.String("server", "", "address of the API server")
	ca := flag.String("ca", "", "file with its CA certificate")
	token := flag.String("token", "", "bearer token")
	index := flag.String("index", "", "file with a line for each object: stage, path, file")
	list := flag.String("watch", "", "path of the Deployments to wait for")
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

	start := time.Now()
	objects, err := readIndex(*index)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, object := range objects {
		if *list != "" && path.Dir(object.path) == *list {
			wanted[path.Base(object.path)] = true
		}
	}
	settled := make(chan error, 1)
	if *list != "" {
		go func() { settled <- c.watch(*list, wanted) }()
	}
	for len(objects) > 0 {
		end := slices.IndexFunc(objects, func(o object) bool { return o.stage != objects[0].stage })
		if end < 0 {
			end = len(objects)
		}
		if err := c.send(objects[:end], *flight); err != nil {
			return err
		}
		objects = objects[end:]
	}
	applied := time.Since(start)
	if *list != "" {
		if err := <-settled; err != nil {
			return err
		}
	}
	fmt.Printf("applied after %.2f s, settled after %.2f s\n", applied.Seconds(), time.Since(start).Seconds())
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// Command watcher follows objects with the status watcher of cli-utils, says when all are current, and goes
// on until it is killed.
//
// The file named by -targets has one object a line: group, kind, namespace and name, set apart by tabs.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cli-utils/pkg/kstatus/polling/event"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/cli-utils/pkg/kstatus/watcher"
	"sigs.k8s.io/cli-utils/pkg/object"
)

func targets(path string) (object.ObjMetadataSet, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var ids object.ObjMetadataSet
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s: not four fields: %q", path, lines.Text())
		}
		ids = append(ids, object.ObjMetadata{
			GroupKind: schema.GroupKind{Group: fields[0], Kind: fields[1]},
			Namespace: fields[2],
			Name:      fields[3],
		})
	}
	return ids, lines.Err()
}

func newWatcher(config *rest.Config) (watcher.StatusWatcher, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoverer))
	return watcher.NewDefaultStatusWatcher(client, mapper), nil
}

func run() error {
	list := flag.String("targets", "", "file with the objects to follow")
	flag.Parse()
	ids, err := targets(*list)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.UserAgent = "watcher"
	// As kapply: the server sets the pace, not the client's own five requests a second.
	config.QPS = -1
	statuses, err := newWatcher(config)
	if err != nil {
		return err
	}
	current := make(map[object.ObjMetadata]bool, len(ids))
	said := false
	for happened := range statuses.Watch(context.Background(), ids, watcher.Options{}) {
		switch happened.Type {
		case event.ErrorEvent:
			return happened.Error
		case event.ResourceUpdateEvent:
			if happened.Resource.Status == status.CurrentStatus {
				current[happened.Resource.Identifier] = true
			} else {
				delete(current, happened.Resource.Identifier)
			}
		}
		if len(current) == len(ids) && !said {
			said = true
			fmt.Println("current")
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "watcher:", err)
		os.Exit(1)
	}
}

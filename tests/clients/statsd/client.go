// Debian's golang-github-datadog-datadog-go: UDP and Unix datagrams, with tags, events and checks;
// and golang-gopkg-alexcesaro-statsd.v1: UDP.
package main

import (
	"log"
	"os"
	"time"

	"github.com/DataDog/datadog-go/statsd"
	alex "gopkg.in/alexcesaro/statsd.v1"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func datadog(address, namespace string) {
	client, err := statsd.New(address)
	must(err)
	// A millisecond otherwise, after which the client drops.
	if client.SetWriteTimeout(20*time.Second) != nil && address[:5] == "unix:" {
		log.Fatal("no time-out for writes")
	}
	client.Namespace = namespace
	client.Tags = []string{"env:test"}
	for i := 0; i < 200; i++ {
		must(client.Incr("hits", []string{"code:200"}, 1))
	}
	must(client.Gauge("level", -42.5, nil, 1))
	for i := 0; i < 3; i++ {
		must(client.Timing("wait", 320*time.Millisecond, nil, 1))
	}
	must(client.Histogram("size", 0.25, nil, 1))
	must(client.Distribution("spread", 7, nil, 1))
	must(client.Set("users", "joe", nil, 1))
	must(client.SimpleEvent("title "+namespace, "text\nof two lines, é"))
	must(client.SimpleServiceCheck(namespace+"up", statsd.Warn))
	must(client.Close())
}

func main() {
	datadog(os.Args[1], "go_udp.")
	datadog("unix://"+os.Args[2], "go_unix.")
	client, err := alex.New(os.Args[1], alex.WithPrefix("alex."))
	must(err)
	for i := 0; i < 200; i++ {
		client.Increment("hits")
	}
	client.Gauge("level", 42)
	for i := 0; i < 3; i++ {
		client.Timing("wait", 320, 1)
	}
	client.Close()
}

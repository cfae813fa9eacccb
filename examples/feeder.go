// Feeds the interface `example` with what it costs to look up one's own name: go run feeder.go
// It needs no library: a datagram of text holds many samples. Without a daemon it says so and ends.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	path := os.Getenv("TALLY_SOCKET")
	if path == "" {
		path = "/run/tallyfs/socket"
	}
	socket, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		log.Fatal(err)
	}
	// What is there already stays as its users have defined it.
	fmt.Fprintln(socket, "create example/latency_ns type=range on=1 units=nanoseconds/calls")
	for batch := 0; batch < 10; batch++ {
		var lines strings.Builder
		for call := 0; call < 100; call++ {
			begun := time.Now()
			os.Hostname()
			fmt.Fprintf(&lines, "example/latency_ns %d\n", time.Since(begun).Nanoseconds())
		}
		socket.SetWriteDeadline(time.Now().Add(time.Second)) // the queue of a busy daemon is full
		if _, err := socket.Write([]byte(lines.String())); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("1000 samples are in statistics/example/data")
}

// Command h3server answers HTTP/3 on a UDP port of 127.0.0.1 with a body of some bytes, and HTTPS on the same
// port of TCP, with a certificate of its own, until it is interrupted. It is there
// for tools/benchload.
//
//	go run ./cmd/tare/internal/http3/h3server 8443 100
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "h3server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments: the port and the bytes of a body", len(args))
	}
	size, err := strconv.Atoi(args[1])
	if err != nil || size < 0 {
		return fmt.Errorf("a body of %q bytes", args[1])
	}
	text := strings.Repeat("x", size)
	addr := net.JoinHostPort("127.0.0.1", args[0])
	socket, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	defer socket.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	certified := httptest.NewUnstartedServer(nil) // whose certificate is borrowed
	certified.StartTLS()
	defer certified.Close()
	config := &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS13}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = io.WriteString(w, text)
	})
	over := &http.Server{Handler: hello, TLSConfig: config, ReadHeaderTimeout: time.Minute}
	quick := &http3.Server{Handler: hello, TLSConfig: config}
	failed := make(chan error, 2)
	go func() { failed <- over.ServeTLS(listener, "", "") }()
	go func() { failed <- quick.Serve(socket) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	over.Close()
	quick.Close()
	return err
}

// Command h3server is a server for tools/benchload, which compares load generators. It responds to HTTP/3
// on a UDP port of 127.0.0.1, and to HTTPS on the same TCP port. Arguments are the port and the size of
// each body in bytes. The certificate is that of package httptest:
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

// run serves until ctx ends or a server fails. args are the port and the size of the body in bytes.
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
	testServer := httptest.NewUnstartedServer(nil) // only for its certificate
	testServer.StartTLS()
	defer testServer.Close()
	config := &tls.Config{Certificates: testServer.TLS.Certificates, MinVersion: tls.VersionTLS13}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = io.WriteString(w, text)
	})
	httpsServer := &http.Server{Handler: handler, TLSConfig: config, ReadHeaderTimeout: time.Minute}
	http3Server := &http3.Server{Handler: handler, TLSConfig: config}
	failures := make(chan error, 2)
	go func() { failures <- httpsServer.ServeTLS(listener, "", "") }() // the certificate is in config
	go func() { failures <- http3Server.Serve(socket) }()
	select {
	case err = <-failures:
	case <-ctx.Done():
	}
	httpsServer.Close()
	http3Server.Close()
	return err
}

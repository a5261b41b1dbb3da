package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// A server that has just started must answer a request. So no broken server is measured.

// endGrace is the wait for a result of Serve after a failed request. A server that ends closes its listener
// before Serve returns the reason.
const endGrace = time.Second

// awaitAnswer sends a first request to the server and waits for the response. The access log gets a line.
func (r *running) awaitAnswer(limit time.Duration) error {
	answered := make(chan error, 1)
	go func() { answered <- r.sendProbe(limit) }()
	select {
	case err := <-answered:
		if err == nil {
			return nil
		}
		select {
		case ended := <-r.ended: // explains the missing response
			return r.earlyEnd(ended)
		case <-time.After(endGrace):
			return fmt.Errorf("the server at %s does not answer: %w", r.addr, err)
		}
	case err := <-r.ended:
		<-answered
		return r.earlyEnd(err)
	}
}

// earlyEnd describes the unexpected result err of Serve.
func (r *running) earlyEnd(err error) error {
	r.ended <- err // put it back: stopServer receives one result per front
	if err == nil {
		err = errors.New("it ended")
	}
	return fmt.Errorf("the server does not serve: %w", err)
}

// sendProbe sends a request and reads the start of the response. Over HTTP/2 the server's settings are enough.
func (r *running) sendProbe(limit time.Duration) error {
	conn, err := net.DialTimeout("tcp", r.addr, limit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if r.pair != nil {
		config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13} // the server is this process
		if r.http2 {
			config.NextProtos = []string{"h2"}
		}
		conn = tls.Client(conn, config)
	}
	if r.http2 {
		return probeHTTP2(conn)
	}
	if _, err := fmt.Fprintf(conn, "GET /health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.addr); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "HTTP/1.1 ") {
		err = fmt.Errorf("no HTTP/1.1: %.60q", line)
	}
	return err
}

// probeHTTP2 sends the start of an HTTP/2 connection. The server's first frame must be settings. See RFC 9113,
// sections 3.4, 4.1 and 6.5.
func probeHTTP2(conn net.Conn) error {
	const (
		frameHead = 9 // bytes
		typeIndex = 3 // position of the type in it
		settings  = 4 // type of a settings frame
	)
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		return err
	}
	var head [frameHead]byte
	n, err := io.ReadFull(conn, head[:])
	isOtherFrame := n == frameHead && head[typeIndex] != settings
	isCutOff := err != nil && n > 0
	if isOtherFrame || isCutOff {
		return fmt.Errorf("no HTTP/2: %.60q", head[:n])
	}
	return err
}

package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, url string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	r, err := c.Post(url, typeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alone2 is a program of two faces.
func alone2() alone {
	return alone{Host{Apps: Apps{goods(counter)}, Variants: []string{"grpc", "gin", "gin-fast"}, Together: []string{"gin", "grpc"}}}
}

func TestParseFaces(t *testing.T) {
	at := func(list ...string) (faces []listenSpec) {
		for i := 0; i < len(list); i += 2 {
			faces = append(faces, listenSpec{list[i], list[i+1]})
		}
		return faces
	}
	for _, tt := range []struct {
		args, env string
		want      []listenSpec
		err       string
	}{
		{args: "", want: at("gin", "127.0.0.1:8080", "grpc", "127.0.0.1:8081")},
		{args: "-addr :9000", env: "grpc,gin-fast", want: at("grpc", ":9000", "gin-fast", ":9001")},
		{args: "-addr 127.0.0.1:0", want: at("gin", "127.0.0.1:0", "grpc", "127.0.0.1:0")},
		{args: "-face grpc=127.0.0.1:9090,gin=127.0.0.1:8080", env: "gin", want: at("grpc", "127.0.0.1:9090", "gin", "127.0.0.1:8080")},
		{args: "-face grpc=[::1]:9090,gin,gin-fast", want: at("grpc", "[::1]:9090", "gin", "127.0.0.1:8080", "gin-fast", "127.0.0.1:8081")},
		{args: "-variant gin-fast -face grpc"},
		{args: "-face soap", err: `-face: unknown variant "soap"; known: grpc, gin, gin-fast`},
		{args: "-face grpc,grpc", err: "-face: grpc is there twice"},
		{args: "-face=", err: `unknown variant ""`, env: "soap"},
		{args: "-addr here", err: "-addr: "}, {args: "-addr 127.0.0.1:http", err: `-addr: "http" is no port`},
		{args: "-variant soap", err: `unknown variant "soap"`},
	} {
		s, err := alone2().parseFlags(strings.Fields(tt.args), nil, func(key string) string { return map[string]string{EnvFace: tt.env}[key] })
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
			}
		} else if err != nil || !reflect.DeepEqual(s.listenAt, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.args, s.listenAt, err, tt.want)
		}
	}
}

// TestFacesShareAStore: faces that are served together keep the same users, and end together.
func TestFacesShareAStore(t *testing.T) {
	a := alone2()
	s, err := a.parseFlags([]string{"-addr", "127.0.0.1:0"}, nil, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = os.Stdout
	ctx, cancel := context.WithCancel(context.Background())
	said, done := make(lines, 9), make(chan error, 1)
	go func() { done <- a.serveUntilDone(ctx, s, said) }()
	if line := <-said; !strings.HasSuffix(line, ": nothing is kept\n") {
		t.Errorf("%q", line)
	}
	at := map[string]string{}
	for _, name := range []string{"gin", "grpc"} {
		line := <-said
		_, url, ok := strings.Cut(line, ": serving shop by "+name+" at ")
		if !ok {
			t.Fatalf("%q", line)
		}
		at[name] = strings.TrimSpace(url)
		if line := <-said; !strings.HasSuffix(line, ": try: curl -s "+at[name]+"/health\n") {
			t.Errorf("%q", line)
		}
	}
	if got := post(t, at["grpc"]+"/tea"); got != "1\n" {
		t.Errorf("%q", got)
	}
	if got := get(t, at["gin"]+"/health"); got != "200 gin 1\n" {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for name, url := range at {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
			conn.Close()
			t.Errorf("%s is still there", name)
		}
	}
	var stderr bytes.Buffer
	if code := a.main([]string{"-addr", "127.0.0.1:0", "-place", "closed"}, os.Stdout, &stderr); code != 1 || stderr.String() != "shop: no room\n" {
		t.Errorf("code %d: %q", code, stderr.String())
	}
}

// TestFacesFallTogether: when one face cannot be served none is.
func TestFacesFallTogether(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var stderr bytes.Buffer
	if code := alone2().main([]string{"-face", "gin=127.0.0.1:0,grpc=" + l.Addr().String()}, os.Stdout, &stderr); code != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("a taken address: code %d: %s", code, stderr.String())
	}
	quits := alone{Host{Apps: Apps{goods(func(o Options, s *stock) (Server, error) {
		if o.Variant == "grpc" {
			return dummy{serve: func(net.Listener) error { return errors.New("out of order") }}, nil
		}
		return counter(o, s)
	})}, Variants: []string{"grpc", "gin"}, Together: []string{"gin", "grpc"}}}
	stderr.Reset()
	if code := quits.main([]string{"-addr", "127.0.0.1:0"}, os.Stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "serving ended: out of order") {
		t.Errorf("one that quits: code %d: %s", code, stderr.String())
	}
}

// TestAnswersHTTP2: a server of HTTP/2 alone is ready when it has said its settings.
func TestAnswersHTTP2(t *testing.T) {
	for says, want := range map[string]string{"\x00\x00\x00\x04\x00\x00\x00\x00\x00": "", "HTTP/1.1 400 Bad Request\r\n\r\n": "no HTTP/2", "\x00": "no HTTP/2", "": "does not answer"} {
		hold := make(chan struct{})
		h := Host{HTTP2: func(string) bool { return true }}
		app := Plain("tiny", func(Options) (Server, error) {
			return dummy{serve: func(l net.Listener) error {
				conn, err := l.Accept()
				if err != nil {
					return err
				}
				_, _ = io.ReadFull(conn, make([]byte, 24+9))
				io.WriteString(conn, says)
				conn.Close()
				<-hold
				return nil
			}}, nil
		})
		r, err := h.startServer(anywhere(app))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.awaitAnswer(10 * time.Second); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", says, err, want)
		}
		close(hold)
		if err := r.stopServer(10 * time.Second); err != nil {
			t.Error(err)
		}
	}
}

package nethttp_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

// serve runs a server in this process.
func serve(t *testing.T, s server.Server, err error) *service {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &service{t: t, addr: l.Addr().String()}
}

// TestIngestFails: what the service itself cannot do is not acknowledged.
func TestIngestFails(t *testing.T) {
	service, err := ingest.New(ingest.Config{Sink: "file:" + t.TempDir() + "/events.ndjson"})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := nethttp.Ingest(map[ingest.Format]nethttp.Decoder{
		ingest.JSON: decode,
		ingest.Gob: func(*ingest.Service, []byte) (ingest.Batch, error) {
			return nil, &ingest.Refusal{Status: 400, Code: "mine", Message: "as the decoder says"}
		},
		ingest.Protobuf: func(*ingest.Service, []byte) (ingest.Batch, error) {
			return ingest.Records([]ingest.Record{{ID: "a", Timestamp: ingest.Time{Time: time.Unix(1, 0)}}}, func(any) ([]byte, error) { return nil, errors.New("secret") }), nil
		},
	})(server.Options{Receipts: &server.Receipts{}}, service)
	s := serve(t, made, err)
	var gobbed bytes.Buffer
	if err := gob.NewEncoder(&gobbed).Encode([]ingest.Record{{ID: "a"}}); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	r := s.post(c, "["+record("a")+"]")
	if r.status != 503 || r.code() != "sink" || r.header.Get("Retry-After") == "" {
		t.Errorf("a closed sink: %d %s", r.status, r.body)
	}
	if r := s.post(c, gobbed.String(), "Content-Type", "application/x-gob"); r.status != 400 || r.code() != "mine" {
		t.Errorf("a decoder's own refusal: %d %s", r.status, r.body)
	}
	if r := s.post(c, "x", "Content-Type", "application/x-protobuf"); r.status < 400 || strings.Contains(r.body, "secret") {
		t.Errorf("an encoder's error: %d %s", r.status, r.body)
	}
	if r := s.post(c, "x", "Content-Type", "text/csv"); r.status != 415 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if n := service.Delivered(); n != 0 {
		t.Errorf("%d delivered", n)
	}
}

// TestHomelabFails: what an encoder or a handler cannot do is an answer, and the service goes on.
func TestHomelabFails(t *testing.T) {
	devices := []homelab.Device{{ID: "light.a", Type: "light", State: "off"}, {ID: "light.b", Type: "light", State: "off"}}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		t.Fatal(err)
	}
	j := nethttp.JSON{
		Unmarshal: json.Unmarshal,
		Marshal: func(v any) ([]byte, error) {
			switch d := v.(type) {
			case homelab.Info:
				return nil, errors.New("secret")
			case homelab.Device:
				if d.ID == "light.b" {
					panic("secret")
				}
			}
			return json.Marshal(v)
		},
	}
	made, err := nethttp.Homelab(j)(server.Options{Receipts: &server.Receipts{}}, house)
	s := serve(t, made, err)
	c := client(t)
	for path, want := range map[string]int{"/api/v1/": 500, "/api/v1/devices/light.b": 500, "/api/v1/devices/light.a": 200, "/api/v1/devices/": 404} {
		r, err := s.send(c, "GET", path, nil, 0)
		if err != nil || r.status != want || strings.Contains(r.body, "secret") || r.header.Get("X-Request-Id") == "" || want >= 400 && r.code() == "" {
			t.Errorf("%s: %d %s, %v; want %d", path, r.status, r.body, err, want)
		}
	}
	r, err := s.send(c, "HEAD", "/api/v1/devices", nil, 0)
	if err != nil || r.status != 200 || r.body != "" || r.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %q %v", r.status, r.body, err)
	}
	r, err = s.send(c, "GET", "/metrics", nil, 0)
	if err != nil || !strings.Contains(r.body, `"500"} 2`) || !strings.Contains(r.body, `"404"} 1`) {
		t.Errorf("%v: metrics: %s", err, r.body)
	}
}

// TestHomelabBodies: a command that is too long or too slow is not obeyed.
func TestHomelabBodies(t *testing.T) {
	s := start(t, "-app", "homelab", "-rate-limit", "off")
	c := client(t)
	const path = "/api/v1/homeassistant/devices/light.device_0000/command"
	for _, length := range []int64{10 << 20, -1} {
		if r, err := s.send(c, "POST", path, limited(10<<20), length); err != nil || r.status != 413 {
			t.Errorf("10 MiB, length %d: %d %s, %v", length, r.status, r.body, err)
		}
	}
	if r, err := s.send(c, "POST", path, strings.NewReader(strings.Repeat(`{"parameters":`, 4000)), -1); err != nil || r.status != 400 || r.code() != "malformed" {
		t.Errorf("deep: %d %s, %v", r.status, r.body, err)
	}
	_, in := s.talk(t, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{")
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, _ := io.ReadAll(r.Body); r.StatusCode != 408 || !strings.Contains(string(body), `"timeout"`) {
		t.Errorf("slow: %d %s", r.StatusCode, body)
	}
}

// TestHomelabAborts: a handler that wants its connection to break gets that.
func TestHomelabAborts(t *testing.T) {
	house, err := homelab.New(homelab.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	abort := func(any) ([]byte, error) { panic(http.ErrAbortHandler) }
	made, err := nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: abort})(server.Options{Receipts: &server.Receipts{}}, house)
	s := serve(t, made, err)
	if r, err := s.send(client(t), "GET", "/api/v1/devices", nil, 0); err == nil {
		t.Errorf("it is answered: %d %s", r.status, r.body)
	}
}

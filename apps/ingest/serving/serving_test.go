package serving

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// configured makes settings; those that are not in set have their defaults.
func configured(t *testing.T, set map[string]string) *config {
	t.Helper()
	c := &config{}
	for _, s := range c.Settings() {
		value, ok := set[s.Name]
		if !ok {
			value = s.Default
		}
		if err := s.Set(value); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	return c
}

func TestSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	for _, tt := range []struct {
		set  map[string]string
		want ingest.Config
	}{
		{nil, ingest.Config{Limit: ingest.DefaultLimit, MaxBody: ingest.DefaultMaxBody, Sink: "null", SpoolBytes: 1 << 30}},
		{map[string]string{SetLimit: "100", SetMaxBody: "2MiB", SetToken: "x", SetSink: "file:" + path, SetFsync: "on", SetRotate: "64MB", SetSpoolBytes: "64KiB", SetSpoolAge: "10m", SetSinkWait: "3s"}, ingest.Config{SpoolBytes: 64 << 10, SpoolAge: 10 * time.Minute, Wait: 3 * time.Second, Limit: 100, MaxBody: 2 << 20, Token: "x", Sink: "file:" + path, Fsync: true, Rotate: 64e6}},
	} {
		if c := configured(t, tt.set); !reflect.DeepEqual(c.Config, tt.want) {
			t.Errorf("%v: %+v, want %+v", tt.set, c.Config, tt.want)
		}
	}
	for _, value := range []string{"kafka:x", "file:", "file", "spool:", ""} {
		if err := (&config{}).setSink(value); err == nil || !strings.Contains(err.Error(), "is neither null nor file:PATH") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// TestOpen: the server is of the service that is opened, which says what happens to events.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	if err := os.WriteFile(path, []byte("{}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sink, want := range map[string]string{"null": "thrown away", "file:" + path: "was unfinished: its 1 bytes were cut off", "file:" + path + ".new": "", "spool:" + t.TempDir(): ""} {
		c := configured(t, map[string]string{SetSink: sink})
		var served *ingest.Service
		c.serve = func(_ server.Options, s *ingest.Service) (server.Server, error) {
			served = s
			return nil, nil
		}
		s, err := c.Open(false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Make(server.Options{}); err != nil || served == nil || c.Now == nil {
			t.Errorf("%s: %v, %v", sink, served, err)
		}
		if got := strings.Join(s.Notices, "; "); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", sink, got, want)
		}
		if err := s.Close(); err != nil || s.Keeps != "sink" || s.Delivered() != 0 {
			t.Errorf("%s: %v", sink, err)
		}
	}
	c := configured(t, map[string]string{SetSink: "file:" + filepath.Join(t.TempDir(), "no", "such", "dir")})
	if _, err := c.Open(true); err == nil || c.Now != nil {
		t.Errorf("a sink that cannot be: %v", err)
	}
}

// TestTry: the command carries the token, and does not say it.
func TestTry(t *testing.T) {
	at := server.Address{Host: "127.0.0.1:8080"}
	open, guarded := server.TryWith("", tryCommand)("", at), server.TryWith("secret", tryCommand)("", at)
	if strings.Contains(open, "Authorization") || !strings.HasSuffix(open, " http://127.0.0.1:8080") {
		t.Errorf("%q", open)
	}
	if !strings.Contains(guarded, `"Authorization: Bearer $TARE_TOKEN"`) || strings.Contains(guarded, "secret") {
		t.Errorf("%q", guarded)
	}
}

package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall/grpctest"
)

// ofGRPC is a server of gRPC and its host:port.
func ofGRPC(t *testing.T, version string, secure bool) (*grpctest.Server, string) {
	t.Helper()
	h, err := grpctest.New(version)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.Protocols.SetHTTP2(true)
	if s.EnableHTTP2 = secure; secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return h, s.Listener.Addr().String()
}

// Calls of all four kinds, by reflection and by a file, in plain text and over TLS.
func TestLoadGRPC(t *testing.T) {
	dir := t.TempDir()
	for name, text := range grpctest.Files() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := filepath.Join(dir, "calls.ndjson")
	if err := os.WriteFile(lines, []byte("{\"id\":\"1\"}\n{\"id\":\"404\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, secure := range []bool{false, true} {
		h, addr := ofGRPC(t, "v1", secure)
		scheme, more := "grpc://", []string{}
		if secure {
			scheme, more = "grpcs://", []string{"--insecure"}
		}
		url := scheme + addr + "/shop.v1.Shop/"
		for method, c := range map[string]struct {
			data     string
			messages int64 // that a call sends
		}{"Get": {`{"id":"7"}`, 1}, "List": {`{"id":"7"}`, 1}, "Put": {`[{"id":"a"},{"id":"b"}]`, 2}, "Talk": {`[{},{},{}]`, 3}} {
			for _, from := range [][]string{nil, {"--proto", filepath.Join(dir, "shop.proto")}} {
				calls, messages := h.Calls.Load(), h.Messages.Load()
				args := append(append([]string{"-n", "60", "-c", "2", "--data", c.data, "-H", "X-Test: yes", "--deadline", "2s", url + method}, from...), more...)
				d := measured(t, args...)
				if d.Requests != 60 || len(d.Errors) != 0 || d.Codes["0"] != 60 {
					t.Errorf("%q: %d calls, %v, %v: %s", args, d.Requests, d.Codes, d.Errors, d.FirstError)
				}
				if calls = h.Calls.Load() - calls; calls < 60 || h.Messages.Load()-messages != calls*c.messages {
					t.Errorf("%s: %d messages of %d calls", method, h.Messages.Load()-messages, calls)
				}
				if got := h.Header(); got.Get("X-Test") != "yes" || got.Get("Grpc-Timeout") != "2000m" || got.Get("Content-Type") != "application/grpc" {
					t.Errorf("metadata %v", got)
				}
			}
		}
		if d := measured(t, append([]string{"-n", "60", "-c", "1", "--data", "@" + lines, url + "Get"}, more...)...); d.Codes["0"] != 30 || d.Codes["5"] != 30 || d.Errors["status"] != 30 || d.FirstError != "status: grpc-status 5 (NOT_FOUND)" {
			t.Errorf("%v, %v, %s", d.Codes, d.Errors, d.FirstError)
		}
	}
}

// A status that is none, trailers that do not come and messages that are none are
// errors, each of its class.
func TestLoadGRPCChecks(t *testing.T) {
	_, addr := ofGRPC(t, "v1", false)
	url := "grpc://" + addr + "/shop.v1.Shop/Get"
	if d := measured(t, "-n", "20", "-c", "1", "--data", `{"id":"odd"}`, url); d.Errors["answer"] == 0 || !strings.Contains(d.FirstError, "not a common.Item") {
		t.Errorf("%v: %s", d.Errors, d.FirstError)
	}
	c := loadWith(t, cmdenv.Lab{}, "-q", "-n", "20", "-c", "1", "--data", `{"id":"silent"}`, url)
	if c.code != cmdenv.ExitFailure || !strings.Contains(c.errors, "no request was answered") || !strings.Contains(c.out, "no grpc-status at the end of the answer") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	c = loadWith(t, cmdenv.Lab{}, "-q", "-n", "20", "-c", "2", url)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, "closed loop on 2 connections of gRPC (unary), 20 requests") || !strings.Contains(c.out, "  statuses    0 OK: 20\n") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	_, mute := ofGRPC(t, "", false)
	for _, f := range []struct {
		code int
		want string
		args []string
	}{
		{cmdenv.ExitUsage, "--data is for gRPC", []string{"--data", "{}", ":1"}},
		{cmdenv.ExitUsage, "--body is for HTTP", []string{"--body", "x", url}},
		{cmdenv.ExitUsage, "is not /package.Service/Method", []string{"grpc://" + addr}},
		{cmdenv.ExitUsage, "--deadline 0s is out of bounds", []string{"--deadline", "0s", url}},
		{cmdenv.ExitUsage, "one at a time", []string{url, url}},
		{cmdenv.ExitUsage, "--data: value 1: not a shop.v1.Ask", []string{"--data", `{"x":1}`, url}},
		{cmdenv.ExitUsage, "--data: no value of JSON", []string{"--data", "", url}},
		{cmdenv.ExitUsage, "--data: nothing: no such file", []string{"--data", "@nothing", url}},
		{cmdenv.ExitUsage, "--proto nothing.proto: ", []string{"--proto", "nothing.proto", url}},
		{cmdenv.ExitFailure, "does not answer questions about itself (server reflection); pass the .proto file with --proto", []string{"grpc://" + mute + "/shop.v1.Shop/Get"}},
	} {
		if c := loadWith(t, cmdenv.Lab{}, append([]string{"-q", "-n", "4"}, f.args...)...); c.code != f.code || !strings.Contains(c.errors, f.want) {
			t.Errorf("%q: exit code %d: %s", f.args, c.code, c.errors)
		}
	}
}

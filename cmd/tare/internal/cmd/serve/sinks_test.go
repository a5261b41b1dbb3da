package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func TestForwarded(t *testing.T) {
	args := []string{"-app=ingest", "-sink=tee:null,http+json://h", "-limit=5", "-spool=d"}
	value := func(name string) string { return map[string]string{"sink": args[1][6:], "sink-wait": "30s"}[name] }
	f, given, err := parseForwarding(args, value, "d")
	assert.NoError(t, "forwarded", err)
	assert.Equal(t, "arguments", strings.Join(given, " "), "-app=ingest -limit=5 -sink=spool:d")
	assert.Equal(t, "sinks", len(f.targets), 2)
	assert.Contains(t, "promise", f.describeGuarantee(), "acknowledged = sent on")
	assert.Equal(t, "age where senders wait", f.targets[1].Limits.Age, 0)
	aged := map[string]string{"sink": "http+json://h#age=200ms", "sink-wait": "30s"}
	f, _, err = parseForwarding(nil, func(name string) string { return aged[name] }, "")
	assert.NoError(t, "with an age", err)
	assert.Equal(t, "age that the URL gives", f.targets[0].Limits.Age, 200*time.Millisecond)
	f, given, err = parseForwarding(nil, func(name string) string { return map[string]string{"sink": "http+json://h", "fsync": "on"}[name] }, "")
	assert.NoError(t, "by the environment", err)
	assert.Equal(t, "arguments", strings.Join(given, " "), "-sink=spool:tare-spool")
	assert.Equal(t, "promise", f.describeGuarantee(), "acknowledged = on stable storage of this disk; full: 503")
	for _, text := range []string{"", "null", "file:x", "spool:x"} {
		f, given, err := parseForwarding(args, func(string) string { return text }, "")
		if f != nil || err != nil || len(given) != len(args) {
			t.Errorf("%q: %v %v %v", text, f, given, err)
		}
		if _, _, err := parseForwarding(args, func(string) string { return text }, "d"); cmdenv.ExitCode(err) != 2 {
			t.Errorf("%q with a spool: %v", text, err)
		}
	}
	unknown := func(string) string { return "amqp://h" }
	f, _, err = parseForwarding(nil, unknown, "")
	assert.NoError(t, "unknown, of the environment: the program says so", err)
	assert.Equal(t, "forwarding", f == nil, true)
	_, _, err = parseForwarding([]string{"-sink=amqp://h"}, unknown, "")
	assert.ErrorContains(t, "unknown", err, "is not among")
}

// The token goes to one sink, not to those that need another or none.
func TestTokenIsForOneSink(t *testing.T) {
	t.Setenv(envSinkToken, "secret")
	for text, want := range map[string]string{
		"http+json://a": "http+json://a",
		"tee:http+json://a,https+bulk://b/i#token-file=x,http+json://u:p@c,kafka://d:1/t,null": "http+json://a",
		"tee:https+json://a#token-file=x,null":                                                 "",
		"tee:http+json://a,https+bulk://b/i":                                                   "2 have no credentials",
	} {
		f, _, err := parseForwarding(nil, func(name string) string { return map[string]string{"sink": text}[name] }, "")
		if strings.HasPrefix(want, "2 ") {
			assert.ErrorContains(t, text, err, want)
			assert.Equal(t, text, cmdenv.ExitCode(err), 2)
			if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q", err)
			}
			continue
		}
		assert.NoError(t, text, err)
		assert.Equal(t, text, strings.Trim(fmt.Sprint(f.tokenTargets()), "[]"), want)
	}
}

// A token that others can read on its way is warned of.
func TestTokenInPlainText(t *testing.T) {
	t.Setenv(envSinkToken, "secret")
	for url, want := range map[string]bool{
		"http+json://192.0.2.1/p": true, "http+json://far.example/p": true,
		"https+json://192.0.2.1/p": false, "http+json://127.0.0.1:1/p": false, "http+json://[::1]:1/p": false, "http+json://localhost/p": false,
		"http+json://u:p@192.0.2.1/p": false,
	} {
		f, _, err := parseForwarding(nil, func(name string) string { return map[string]string{"sink": url}[name] }, t.TempDir())
		assert.NoError(t, url, err)
		var out bytes.Buffer
		assert.NoError(t, url, f.runWith(cmdenv.Env{Err: &out, Now: time.Now}, nil, func() error { return nil }))
		assert.Equal(t, url, strings.Contains(out.String(), "TARE_SINK_TOKEN is sent in plain text to "+url), want)
	}
}

// What is in the spool when the service ends is sent on; what cannot be is kept, and said.
func TestForwardingDuringAService(t *testing.T) {
	far := sinktest.NewServer(t, "ndjson")
	dir := filepath.Join(t.TempDir(), "a", "spool")
	value := func(name string) string { return map[string]string{"sink": far.URL()}[name] }
	f, _, err := parseForwarding(nil, value, dir)
	assert.NoError(t, "forwarded", err)
	serve := func(id string) func() error {
		return func() error {
			s, _, err := spool.Open(dir, spool.Options{Now: time.Now})
			if err != nil {
				return err
			}
			return errors.Join(s.Keep(context.Background(), []byte(sinktest.Line(id)+"\n"), 1), s.Close())
		}
	}
	var out bytes.Buffer
	env := cmdenv.Env{Err: &out, Now: time.Now}
	assert.NoError(t, "first", f.runWith(env, nil, serve("a")))
	assert.Equal(t, "arrived", len(far.Arrived()), 1)
	assert.Contains(t, "promise", out.String(), "tare: acknowledged = written to this disk")
	assert.Contains(t, "promise", out.String(), "sent on at least once to "+far.URL())

	far.Stop()
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt // enough waited for
	assert.NoError(t, "away", f.runWith(env, signals, serve("b")))
	assert.Contains(t, "rest", out.String(), "1 event not sent on yet: stored in ")
	far.Start()
	assert.NoError(t, "again", f.runWith(env, nil, func() error { return nil }))
	assert.Equal(t, "arrived", len(far.Arrived()), 2)

	failed := errors.New("no port")
	assert.ErrorIs(t, "a service that fails", f.runWith(env, nil, func() error { return failed }), failed)
	assert.NoError(t, "no forwarding", (*forwarding)(nil).runWith(env, nil, func() error { return nil }))
	assert.NoError(t, "write", os.WriteFile(dir+"x", nil, 0o600))
	f.dir = dir + "x"
	assert.ErrorContains(t, "no directory", f.runWith(env, nil, serve("c")), "make the spool")
}

// With --fsync a file that events are sent on to is synced too.
func TestForwardingToAFileWithFsync(t *testing.T) {
	url := "tee:null,file:" + filepath.Join(t.TempDir(), "e")
	f, _, err := parseForwarding(nil, func(name string) string { return map[string]string{"sink": url, "fsync": "on"}[name] }, t.TempDir())
	assert.NoError(t, "forwarded", err)
	var out bytes.Buffer
	assert.NoError(t, "serve", f.runWith(cmdenv.Env{Err: &out, Now: time.Now}, nil, func() error { return nil }))
	assert.Contains(t, "promise", out.String(), "sent = on stable storage")
}

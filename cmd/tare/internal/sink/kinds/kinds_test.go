package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func mustOpen(t testing.TB, url string) sink.Sink {
	t.Helper()
	list, err := sink.ParseTargets(url)
	assert.NoError(t, "parse", err)
	s, err := Open(list[0], Config{Now: time.Now})
	assert.NoError(t, "open", err)
	return s
}

func TestFile(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		return sinktest.Subject{
			Open: func(t testing.TB) sink.Sink { return mustOpen(t, "file:"+path) },
			Arrived: func() []string {
				text, err := os.ReadFile(path)
				assert.NoError(t, "read", err)
				return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			},
		}
	})
}

// Each kind has a promise without secrets, and opens without its far side.
func TestPromises(t *testing.T) {
	urls := map[string]string{"null": "null", "file": "file:" + filepath.Join(t.TempDir(), "e") + "#fsync=on"}
	for _, kind := range sink.Kinds() {
		url := urls[kind]
		if url == "" {
			url = kind + "://u:secret@127.0.0.1:1/p?k=secret"
		}
		s := mustOpen(t, url)
		text := s.Promise().String()
		if strings.Contains(text, "secret") || !strings.Contains(text, "sent on") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q", kind, text)
		}
		assert.NoError(t, "close", s.Close())
	}
}

// A file is synced if its URL says so, or else if the service syncs its spool: what
// is sent on is removed from there.
func TestFileIsSyncedAsTheSpool(t *testing.T) {
	const stable, written = "sent = on stable storage", "sent = written, which survives a kill but not a power cut"
	for _, test := range []struct {
		fsync   bool
		options string
		promise string
	}{
		{true, "", stable}, {true, "#fsync=off", written}, {false, "", written}, {false, "#fsync=on", stable},
	} {
		list, err := sink.ParseTargets("file:" + filepath.Join(t.TempDir(), "e") + test.options)
		assert.NoError(t, "parse", err)
		s, err := Open(list[0], Config{Fsync: test.fsync, Now: time.Now})
		assert.NoError(t, "open", err)
		assert.Contains(t, "promise", s.Promise().String(), test.promise)
		assert.NoError(t, "close", s.Close())
	}
}

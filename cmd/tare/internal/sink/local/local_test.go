package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func TestFile(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		return sinktest.Subject{
			Open: func(t testing.TB) sink.Sink { return sinktest.Open[*file](t, "file:"+path, Kinds()...) },
			Arrived: func() []string {
				text, err := os.ReadFile(path)
				assert.NoError(t, "read", err)
				return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			},
		}
	})
}

// Unless its URL says otherwise, a file is synced if the service syncs its spool, because events
// that were sent on are removed from the spool.
func TestFileIsSyncedAsTheSpool(t *testing.T) {
	const stable, written = "sent = on stable storage", "sent = written, which survives a kill but not a power cut"
	for _, test := range []struct {
		fsync   bool
		options string
		promise string
	}{
		{true, "", stable}, {true, "#fsync=off", written}, {false, "", written}, {false, "#fsync=on", stable},
	} {
		one, err := sinktest.Parse(t, "file:"+filepath.Join(t.TempDir(), "e")+test.options, Kinds()...).Open(sink.Settings{Fsync: test.fsync})
		assert.NoError(t, "open", err)
		assert.Contains(t, "promise", one.Sink.Promise().String(), test.promise)
		assert.NoError(t, "close", one.Sink.Close())
	}
}

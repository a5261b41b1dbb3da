package session

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// A result is there whole, or the one before it, whatever operation fails.
func TestNoFaultTearsAResult(t *testing.T) {
	atomicfiletest.Sweep(t, func(d atomicfile.Disk, dir string, fresh bool) (string, error) {
		res := &tare.Result{Schema: tare.ResultSchema, Study: "s", Run: tare.Run{Started: time.Unix(0, 0).UTC(), Stopped: "interrupted"}}
		if fresh {
			res.Question, res.Stopped = strings.Repeat("a question of some length ", 500), "decided"
		}
		return filepath.Join(dir, history.ResultName), saveResult(d, dir, res)
	})
}

// An answer in the cache is there whole, or is asked for again. What could not be
// written is nobody's error.
func TestNoFaultTearsAKnownAnswer(t *testing.T) {
	atomicfiletest.Sweep(t, func(d atomicfile.Disk, dir string, fresh bool) (string, error) {
		k, key, answer := outputCache{dir, d}, "ab12", "old"
		if fresh {
			answer = strings.Repeat("new ", 1000)
		}
		before, had := k.Load(key)
		k.Save(key, []byte(answer))
		after, has := k.Load(key)
		if has && string(after) != answer && !(had && string(after) == string(before)) {
			t.Errorf("torn: %q", after)
		}
		if d == atomicfile.Disk(atomicfile.System{}) {
			return k.filePath(key), nil
		}
		return k.filePath(key), errors.New("a cache acknowledges nothing")
	})
}

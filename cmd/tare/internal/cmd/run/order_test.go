package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// A bare run measures the first study first and the others from short to long, and
// leaves those that take too long to be named, saying so.
func TestOrderOfABareRun(t *testing.T) {
	study := func(id string, quick time.Duration) cmdenv.Study {
		return cmdenv.Study{Study: tare.Study{ID: id, Budget: tare.Budget{Quick: quick}}}
	}
	studies := []cmdenv.Study{study("long", 4*time.Minute), study("b", 2*time.Minute), study(firstStudy, 50*time.Second), study("a", 30*time.Second)}
	sortStudies(studies, true)
	var said, ids []string
	for _, s := range withoutLong(studies, cmdenv.NewCommand("tare run"), func(text string) { said = append(said, text) }) {
		ids = append(ids, s.ID)
	}
	if want := []string{firstStudy, "a", "b"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "long: left out") || !strings.Contains(said[0], "tare run long") {
		t.Errorf("said %q", said)
	}
}

package cmdenv

import (
	"context"
	"errors"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// knowing are sources that know nobody.
type knowing struct{ CatalogSources }

func (knowing) Program(context.Context, string, string, tare.Entry) (build.Program, error) {
	return build.Program{}, errors.New("nothing is built here")
}

func (knowing) Vet(_ string, e tare.Entry) error {
	return &lab.UnknownError{What: "contender " + e.Leaf()}
}

// Only what somebody builds must be known to somebody.
func TestWhoMustBeKnown(t *testing.T) {
	for _, c := range []struct {
		entry tare.Entry
		known bool
	}{
		{tare.Entry{ID: "fluentd", Command: []string{"fluentd"}}, true},
		{tare.Entry{ID: "theirs", URL: "http://127.0.0.1:1"}, true},
		{tare.Entry{ID: "gni"}, false},
	} {
		err := Study{Study: tare.Study{Kind: "server", Contenders: []tare.Entry{c.entry}}}.Vet(knowing{})
		if (err == nil) != c.known {
			t.Errorf("%s: %v", c.entry.ID, err)
		}
	}
}

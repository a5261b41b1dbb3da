package lab_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// memory keeps answers for a test.
type memory map[string][]byte

func (m memory) Load(key string) ([]byte, bool) { src, ok := m[key]; return src, ok }
func (m memory) Save(key string, what []byte)   { m[key] = what }

// counting counts the answers that are asked for before the rounds.
type counting struct {
	lab.Kind
	asked *int
}

func (k counting) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	c, err := k.Kind.Open(ctx, p, spec)
	if err != nil || !strings.HasSuffix(spec.Name, "/pilot") {
		return c, err
	}
	return countingConn{c, k.asked}, nil
}

type countingConn struct {
	trial.Conn
	asked *int
}

func (c countingConn) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if q.Op == wire.OpAnswer {
		*c.asked++
	}
	return c.Conn.Do(ctx, q)
}

// The same program is not asked the same question in the next run; another
// program, or another way to configure it, is.
func TestKnownAnswersAreNotAskedForAgain(t *testing.T) {
	kept := memory{}
	asked := func(change func(*tare.Study, *lab.Options)) int {
		n := 0
		o, s := options(t, script()), study()
		o.Rounds, o.Known = 1, kept
		for name, k := range o.Kinds {
			o.Kinds[name] = counting{k, &n}
		}
		change(&s, &o)
		r, err := lab.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"base", tare.ControlID, "lean"} {
			if !checked(r, id) {
				t.Errorf("nothing says that the answers of %s are right", id)
			}
		}
		return n
	}
	same := func(*tare.Study, *lab.Options) {}
	first := asked(same)
	if first == 0 {
		t.Fatal("nobody was asked in the first run")
	}
	if again := asked(same); again >= first {
		t.Errorf("asked %d times in the second run, %d in the first", again, first)
	}
	if env := asked(func(_ *tare.Study, o *lab.Options) { o.Env = []string{"GOGC=50"} }); env != first {
		t.Errorf("asked %d times in another environment, %d in the first", env, first)
	}
}

func checked(r *tare.Result, id string) bool {
	for _, c := range r.Conformance {
		if c.Contender == id && !c.During && c.Cases > 0 {
			return true
		}
	}
	return false
}

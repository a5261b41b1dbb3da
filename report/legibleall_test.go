package report

import (
	"reflect"
	"testing"
	"time"
)

type kind string

type legibleNode struct {
	Name  string
	Kind  kind
	List  []string
	Nodes []*legibleNode
	By    map[string]string
	Pair  [2]string
	At    time.Time
	N     []float64
	None  *legibleNode
	own   string
}

func TestLegibleAll(t *testing.T) {
	const bad, good = "a\x1b]0;b\x07\u202ec", "a⟨U+001B⟩]0;b⟨U+0007⟩⟨U+202E⟩c"
	at, n := time.Unix(1, 0), []float64{1}
	of := func(text string) legibleNode {
		return legibleNode{
			Name: text, Kind: kind(text), List: []string{text, "x"}, Nodes: []*legibleNode{{Name: text, own: bad}, nil},
			By: map[string]string{"k": text}, Pair: [2]string{text, text}, At: at, N: n, own: bad,
		}
	}
	from := of(bad)
	if got := LegibleAll(from); !reflect.DeepEqual(got, of(good)) {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(from, of(bad)) {
		t.Errorf("it was changed: %+v", from)
	}
	if got := LegibleAll(&from); got == &from || got.Name != good {
		t.Errorf("%+v", got)
	}
	if got := LegibleAll[*legibleNode](nil); got != nil {
		t.Errorf("%+v", got)
	}
}

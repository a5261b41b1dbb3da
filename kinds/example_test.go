package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/lab"
)

// TestMain is the beginning of such a program's main: started by a lab, it is a
// contender.
func TestMain(m *testing.M) {
	if os.Getenv(wire.EnvWire) != "" {
		codec.Variants(map[string]codec.Impl{"encoding-json": {Marshal: json.Marshal}, "mine": {Marshal: mine}, "null": codec.Null()})
	}
	os.Exit(m.Run())
}

// mine writes JSON without escaping HTML, which saves a look at every byte.
func mine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Measure a codec of your own without leaving your program: the lab starts the
// program once more for each contender. What main has to begin with is in
// TestMain of this example's file.
func Example() {
	dir, _ := os.MkdirTemp("", "measuring")
	defer os.RemoveAll(dir)
	result, err := lab.Run(context.Background(), tare.Study{
		ID: "mine", Question: "Is mine faster?", Kind: "codec",
		Baseline: "encoding-json", Contenders: []tare.Entry{{ID: "encoding-json"}, {ID: "mine"}},
		Workloads: []tare.Workload{{ID: "devices-5", Fixture: "devices", N: 5, Op: "marshal"}},
		Metrics:   []string{"time", "allocs"},
	}, lab.Options{Kinds: kinds.All(), Sources: lab.Self{}, Dir: dir, Measuring: lab.Measuring{Rounds: 6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Comparisons {
		if c.Contender == "mine" && c.Metric == "time" {
			fmt.Println(c.Contender, "against", c.Against, "after", c.Rounds, "rounds, an interval:", c.Low <= c.Ratio && c.Ratio <= c.High)
		}
	}
	for _, s := range result.Semantics {
		for _, d := range s.Differences {
			fmt.Println(s.Contender, d.Says)
		}
	}
	// Output:
	// mine against encoding-json after 6 rounds, an interval: true
	// mine leaves <, > and & unescaped
	// mine leaves <, > and & unescaped in keys
}

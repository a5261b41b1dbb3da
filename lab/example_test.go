package lab_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// A study is carried out with scripted contenders: the figures are made up, the
// rounds, checks and verdicts are those of any study.
func ExampleRun() {
	o := labtest.Options(labtest.Script{Contenders: map[string]labtest.Act{
		"base": {NSPerOp: 40e3, Spread: 0.02},
		"lean": {NSPerOp: 30e3, Spread: 0.02},
		"null": {NSPerOp: 5},
	}}, "codec")
	dir, err := os.MkdirTemp("", "tare")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o.Dir, o.Seed, o.Rounds = dir, 7, 12

	result, err := lab.Run(context.Background(), tare.Study{
		ID: "example", Question: "Is lean faster?", Kind: "codec", Baseline: "base",
		Contenders: []tare.Entry{{ID: "base"}, {ID: "lean"}},
		Workloads:  []tare.Workload{{ID: "w", Fixture: "devices", Op: "marshal"}},
		Metrics:    []string{"time"},
	}, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range result.Verdicts {
		fmt.Println(v.Sentence)
	}
	// Output: lean takes 0.750× the time of base on w (0.749 to 0.752, 95 %, 12 rounds): 25 % less time.
}

// Package fleet has other machines carry a study out, through the system's ssh:
// the binary goes over once, an agent on each machine measures, and its result
// comes back through the connection that its order came through.
package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/format"
)

// Protocol is what coordinator and agent speak. They are the same binary.
const Protocol = "tare.agent/1"

// maxOrder is the longest order, in bytes: a study with its quotes.
const maxOrder = 4 * studyfile.MaxBytes

// maxRounds is the largest number of rounds that an agent takes an order for.
const maxRounds = 10000

// Order is what an agent is to measure: one line of JSON.
type Order struct {
	Protocol   string   `json:"protocol"`
	Study      string   `json:"study"` // text of the study's file
	Rounds     int      `json:"rounds"`
	Seed       uint64   `json:"seed"`
	Full       bool     `json:"full,omitempty"`       // all of the study; else what carries a claim or criterion
	Contenders []string `json:"contenders,omitempty"` // patterns that choose them; none: all
	Workloads  []string `json:"workloads,omitempty"`
}

// Check says what is wrong with an order. Commands and URLs in a study run only
// where the agent was started to allow them; directories of contenders are on
// another machine.
func (o Order) Check(allowCommands bool) error {
	switch {
	case o.Protocol != Protocol:
		return fmt.Errorf("the order is of protocol %q; this agent takes %s", format.Line(o.Protocol, 40), Protocol)
	case o.Rounds < 1 || o.Rounds > maxRounds:
		return fmt.Errorf("%d is not a number of rounds", o.Rounds)
	}
	study, _, err := studyfile.Read("the order's study", []byte(o.Study))
	if err != nil {
		return err
	}
	for _, e := range study.Contenders {
		switch {
		case e.Program != "":
			return fmt.Errorf("contender %s is a directory of one machine; others cannot build it", format.Line(e.ID, 80))
		case e.Launch() != tare.LaunchProgram && !allowCommands:
			return fmt.Errorf("contender %s is a command or URL; the agent was started without --allow-commands", format.Line(e.ID, 80))
		}
	}
	return nil
}

// Args are the arguments of the tare run that carries the order out; the study
// comes on its stdin.
func (o Order) Args() []string {
	budget := "quick"
	if o.Full {
		budget = "full"
	}
	args := []string{"run", "-", "--json", "--no-page", "--budget", budget, "--rounds", strconv.Itoa(o.Rounds), "--seed", strconv.FormatUint(o.Seed, 10)}
	for _, c := range o.Contenders {
		args = append(args, "--contender="+c)
	}
	for _, w := range o.Workloads {
		args = append(args, "--workload="+w)
	}
	return args
}

// ReadOrder reads one line of JSON without unknown fields. What follows it is
// left in from.
func ReadOrder(from *bufio.Reader) (o Order, err error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxOrder {
			return o, fmt.Errorf("the order is longer than %d bytes", maxOrder)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return o, errors.New("the connection ended before an order came")
			}
			return o, fmt.Errorf("read the order: %w", err)
		}
	}
	if err := json.Unmarshal(line, &o); err != nil {
		return o, fmt.Errorf("the order is not one: %w", err)
	}
	return o, nil
}

// checkResult says what is wrong with what an agent sent back for an order.
func (o Order) checkResult(study string, results []*tare.Result) (*tare.Result, error) {
	if len(results) != 1 {
		return nil, fmt.Errorf("%s came back, not one", format.Count(len(results), "result"))
	}
	r := results[0]
	switch {
	case r.Study != study:
		return nil, fmt.Errorf("a result of study %s came back", format.Line(r.Study, 80))
	case r.Seed != strconv.FormatUint(o.Seed, 10):
		return nil, fmt.Errorf("a result of seed %s came back; %d was ordered", format.Line(r.Seed, 40), o.Seed)
	case r.RoundsDone < 1 || r.RoundsDone > o.Rounds:
		return nil, fmt.Errorf("%d rounds came back; %d were ordered", r.RoundsDone, o.Rounds)
	case len(r.Machines) > 0:
		return nil, errors.New("a result of several machines came back")
	}
	for _, e := range r.Rounds {
		if len(e.Effects) > r.RoundsDone {
			return nil, fmt.Errorf("%d effects of %d rounds came back", len(e.Effects), r.RoundsDone)
		}
		for _, x := range e.Effects {
			if x < -maxEffect || x > maxEffect {
				return nil, fmt.Errorf("an impossible ratio came back: e^%g", x)
			}
		}
	}
	for _, c := range r.Comparisons {
		if c.Ratio < 0 || c.Bounded() && (c.Low > c.Ratio || c.Ratio > c.High) {
			return nil, fmt.Errorf("an impossible interval came back: %g in [%g, %g]", c.Ratio, c.Low, c.High)
		}
	}
	return r, nil
}

// maxEffect is the largest logarithm of a ratio that is believed: 10¹³.
const maxEffect = 30

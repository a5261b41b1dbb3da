package labtest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// A scripted contender takes no real time. A script in JSON defines how long its operations take. Each
// request moves the scripted clock by that time. For example,
//
//	{"contenders": {"a": {"ns_per_op": 100, "spread": 0.01}, "b": {"ns_per_op": 120}}}
//
// makes b take 1.2 times the time of a.

// Script defines how every contender behaves, by its id in the study.
type Script struct {
	Contenders map[string]Act `json:"contenders"`
}

// Act defines how one contender behaves. Times are in nanoseconds.
type Act struct {
	NSPerOp     float64            `json:"ns_per_op"`
	Ratio       map[string]float64 `json:"ratio,omitempty"`  // factor on NSPerOp by workload id; 1 for others
	Spread      float64            `json:"spread,omitempty"` // standard deviation of ln(time) from one timed run to the next
	Drift       float64            `json:"drift,omitempty"`  // standard deviation of ln(time) from one process to the next
	BytesPerOp  int64              `json:"bytes_per_op,omitempty"`
	AllocsPerOp int64              `json:"allocs_per_op,omitempty"`
	CycleNS     float64            `json:"cycle_ns,omitempty"`     // time from one collection to the next; 0 means none
	UntimedNS   float64            `json:"untimed_ns,omitempty"`   // time per operation, in addition to NSPerOp
	AroundNS    float64            `json:"around_ns,omitempty"`    // time per request that runs operations
	Pace        float64            `json:"pace,omitempty"`         // factor on all durations in rounds; 0 means 1
	OutputBytes int64              `json:"output_bytes,omitempty"` // bytes per operation
	Skip        []string           `json:"skip,omitempty"`         // workloads that it does not support
	Wrong       string             `json:"wrong,omitempty"`        // answer to every case; "" means the correct answers
	WrongRound  int                `json:"wrong_round,omitempty"`  // first round with the answer Wrong; 0 means that all are wrong, also before the rounds
	FailPilot   bool               `json:"fail_pilot,omitempty"`   // prepare fails with FailClass and FailMessage
	MaxCases    int                `json:"max_cases,omitempty"`    // largest number of answers in one reply; 0 means any
	Errors      int64              `json:"errors,omitempty"`       // failed operations per slice
	ErrorRounds []int              `json:"error_rounds,omitempty"` // rounds with Errors; nil means all
	FailRounds  []int              `json:"fail_rounds,omitempty"`  // rounds in which slices fail with FailClass and FailMessage
	FailClass   string             `json:"fail_class,omitempty"`
	FailMessage string             `json:"fail_message,omitempty"`
	Version     string             `json:"version,omitempty"`
	Missing     string             `json:"missing,omitempty"` // a claimed symbol that its binary lacks
	Trap        bool               `json:"trap,omitempty"`
	BuildError  string             `json:"build_error,omitempty"` // "" means that it is built
}

// Parse parses a script in JSON.
func Parse(src []byte) (Script, error) {
	var s Script
	if err := json.Unmarshal(src, &s); err != nil {
		return s, fmt.Errorf("read script: %w", err)
	}
	return s, nil
}

// Clock is a scripted clock: it only moves when a contender works.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows t.
func NewClock(t time.Time) *Clock { return &Clock{now: t} }

// Now returns the scripted time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
}

// Open starts a scripted trial of contender id. Its measurements only depend on the script and the name
// of the trial. reference returns the correct answer to case i of a workload, or the error of the
// reply.
func Open(s Script, id, name string, clock *Clock, reference func(w wire.Workload, i int) ([]byte, error)) (*Trial, error) {
	act, ok := s.Contenders[id]
	if !ok {
		return nil, &tare.TrialError{Class: tare.ErrStart, Message: fmt.Sprintf("the script has no contender %q", id)}
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	return &Trial{
		act: act, name: name, clock: clock, reference: reference, rng: rng,
		trialFactor: math.Exp(act.Drift * rng.NormFloat64()), works: map[string]wire.Workload{},
	}, nil
}

// Trial is one scripted trial. It is a trial.Conn.
type Trial struct {
	act         Act
	name        string
	clock       *Clock
	reference   func(w wire.Workload, i int) ([]byte, error)
	rng         *rand.Rand
	trialFactor float64                  // factor on all times of the trial, from Act.Drift
	works       map[string]wire.Workload // prepared ones, by id
	failed      *tare.TrialError         // nil unless the trial has failed
}

// Do replies to one request as the act of the contender defines, and moves the clock.
func (t *Trial) Do(ctx context.Context, request wire.Request) (wire.Reply, error) {
	if err := ctx.Err(); err != nil {
		return wire.Reply{}, err
	}
	if t.failed != nil {
		return wire.Reply{}, t.failed
	}
	reply := wire.Reply{ID: request.ID}
	switch request.Op {
	case wire.OpHello:
		reply.Protocol, reply.Kind, reply.Go, reply.GOMAXPROCS = wire.Protocol, "codec", "go1.26.0", 1
		t.clock.Advance(2 * time.Millisecond)
	case wire.OpPrepare:
		if t.act.FailPilot {
			t.failed = &tare.TrialError{Class: t.act.FailClass, Message: t.act.FailMessage}
			return wire.Reply{}, t.failed
		}
		reply.Fresh = t.act.BytesPerOp > 0
		for _, w := range t.act.Skip {
			reply.Unsupported = reply.Unsupported || w == request.Workload.ID
		}
		t.works[request.Workload.ID] = *request.Workload
		t.clock.Advance(time.Millisecond)
	case wire.OpAnswer:
		if t.act.MaxCases > 0 && len(request.Cases) > t.act.MaxCases {
			return wire.Reply{}, &tare.TrialError{Class: tare.ErrContender, Message: "the reply does not fit a line; ask for fewer cases"}
		}
		var err error
		if reply.Answers, err = t.answerCases(request); err != nil {
			return wire.Reply{}, &tare.TrialError{Class: tare.ErrContender, Message: err.Error()}
		}
	case wire.OpWarm: // ends after MinNS of timed work, or CapNS in all
		ops := float64(request.MinNS) / t.costOf(request.On)
		if t.act.UntimedNS > 0 {
			ops = min(ops, float64(request.CapNS)/(t.costOf(request.On)+t.act.UntimedNS))
		}
		t.runOps(&reply, request, max(1, int64(ops)))
	case wire.OpSlice:
		if slices.Contains(t.act.FailRounds, t.roundIndex()) {
			t.failed = &tare.TrialError{Class: t.act.FailClass, Message: t.act.FailMessage}
			return wire.Reply{}, t.failed
		}
		ops := request.Ops
		if request.Until == string(tare.UntilGC) {
			ops = int64(float64(max(1, request.Cycles)) * t.act.CycleNS / t.costOf(request.On))
		}
		t.runOps(&reply, request, max(1, ops))
		if len(t.act.ErrorRounds) == 0 || slices.Contains(t.act.ErrorRounds, t.roundIndex()) {
			reply.Errors = t.act.Errors
		}
		if reply.Errors > 0 {
			reply.Message = "scripted error"
		}
	case wire.OpStats:
		reply.Ops, reply.Bytes, reply.Allocs = request.Ops, request.Ops*t.act.BytesPerOp, request.Ops*t.act.AllocsPerOp
		t.addUntimed(&reply)
	}
	return reply, nil
}

func (t *Trial) answerCases(request wire.Request) (answers []wire.Answer, err error) {
	isCorrect := t.act.Wrong == "" || t.roundIndex() < t.act.WrongRound
	for _, i := range request.Cases {
		out := []byte(t.act.Wrong)
		if isCorrect {
			if out, err = t.reference(t.works[request.On], i); err != nil {
				return nil, err
			}
		}
		answers = append(answers, wire.Answer{Case: i, Output: out})
	}
	return answers, nil
}

// runOps sets the counts of reply for ops operations of request.On, and moves the clock by their
// time.
func (t *Trial) runOps(reply *wire.Reply, request wire.Request, ops int64) {
	sliceFactor := math.Exp(t.act.Spread * t.rng.NormFloat64())
	ns := float64(ops) * t.costOf(request.On) * t.trialFactor * sliceFactor
	reply.Ops, reply.WallNS = ops, max(1, int64(ns))
	reply.CPUNS = reply.WallNS
	reply.BytesOut = ops * t.act.OutputBytes
	if t.act.CycleNS > 0 {
		reply.GC = max(1, int64(math.Round(float64(ops)*t.costOf(request.On)/t.act.CycleNS)))
	}
	t.clock.Advance(time.Duration(reply.WallNS))
	t.addUntimed(reply)
}

// addUntimed sets the untimed part of reply, and moves the clock by it.
func (t *Trial) addUntimed(reply *wire.Reply) {
	reply.UntimedNS = int64(t.paceFactor() * (t.act.AroundNS + float64(reply.Ops)*t.act.UntimedNS))
	t.clock.Advance(time.Duration(reply.UntimedNS))
}

// paceFactor returns the factor on all durations: 1 in the pilot, Act.Pace in rounds.
func (t *Trial) paceFactor() float64 {
	if t.act.Pace == 0 || t.roundIndex() == 0 {
		return 1
	}
	return t.act.Pace
}

// costOf returns the ns of an operation of workload, without Spread and Drift.
func (t *Trial) costOf(workload string) float64 {
	if f, ok := t.act.Ratio[workload]; ok {
		return t.paceFactor() * t.act.NSPerOp * f
	}
	return t.paceFactor() * t.act.NSPerOp
}

// roundIndex returns the round in the trial's name, or 0 for the pilot.
func (t *Trial) roundIndex() int {
	var round int
	last := t.name[strings.LastIndexByte(t.name, '/')+1:]
	if _, err := fmt.Sscanf(last, "round %d", &round); err != nil {
		return 0
	}
	return round
}

// Close returns fixed evidence. It does not change the trial.
func (t *Trial) Close(context.Context) tare.Evidence {
	return tare.Evidence{GOMAXPROCS: 1, Go: "go1.26.0", CPUSeconds: 1, RunQueueNS: 1e6}
}

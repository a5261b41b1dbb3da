package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// Warm-up and memory passes. A warm-up ends after a number of collection cycles or a time,
// whichever comes first.
const (
	warmGC          = 3
	warmNS          = 20e6
	warmTraffic     = 100e6 // of a server: it has buffers and connections to get
	warmSlice       = 8e6   // of a benchmark with slices of one length, of which suites have many
	warmCapNS       = 2e9
	pilotGC         = 5
	pilotNS         = 100e6
	seldomGC        = 3 // of a contender whose cycles are long
	seldomNS        = 1e9
	warmMore        = 1.2  // of the operations that are expected to last that long
	minUntimedShare = 0.25 // of the timed part of an operation: less cannot be distinguished from chance
	statsNS         = 5e6  // work of one memory pass
	maxStatsOps     = 1000
	sampleCases     = 2 // conformance cases per round

	maxUnrefused = 24 // wrongly accepted probes that are listed
)

// runPilots opens every contender once. Each must answer every case correctly; the pilot measures
// how long an operation takes, what it allocates and how long a collection cycle is, so that slices
// can be planned. None of its measurements is reported.
//
// The baseline and the null contender come first: their cost shows what the budget has time for,
// before the others are opened. The control is the program of the baseline, and is not tested
// again.
//
// If the results of pilots are known in advance, the parts that the budget has no time for are
// omitted before any of them.
func (r *run) runPilots(ctx context.Context) error {
	if err := r.fitExpected(); err != nil {
		return err
	}
	began := r.elapsedTime()
	for _, c := range r.contenders {
		if c.Role == tare.RoleBaseline || c.Role == tare.RoleNull {
			if err := r.pilotOrDrop(ctx, c); err != nil {
				return err
			}
		}
	}
	r.copyToControl()
	if r.o.User && r.o.Rounds == 0 {
		r.fitBeforehand(r.elapsedTime() - began)
	}
	for _, c := range slices.Clone(r.contenders) {
		switch c.Role {
		case tare.RoleBaseline, tare.RoleNull, tare.RoleControl:
		default:
			if err := r.pilotOrDrop(ctx, c); err != nil {
				return err
			}
		}
	}
	r.dropWrong()
	r.sharePilots()
	for _, w := range r.study.Workloads {
		for _, id := range []string{r.study.Baseline, tare.ControlID, tare.NullID} {
			if !r.wasPilotedOn(id, w.ID) {
				return &LostError{Contender: id, Why: fmt.Sprintf("it cannot do workload %s", w.ID)}
			}
		}
	}
	for _, id := range []string{r.study.Baseline, tare.ControlID, tare.NullID} {
		if r.dropped[id] {
			return &LostError{Contender: id, Why: r.whyDropped(id)}
		}
	}
	return nil
}

// pilotOrDrop pilots one contender. One that fails is dropped; the error is for
// what the study cannot go on with.
func (r *run) pilotOrDrop(ctx context.Context, c tare.Contender) error {
	if r.dropped[c.ID] {
		return nil
	}
	r.sendProgress(Event{Phase: "pilot", Contender: c.ID})
	err := r.pilotOne(ctx, c, r.study.Workloads)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var te *tare.TrialError
	if !errors.As(err, &te) {
		return err
	}
	r.trials = append(r.trials, tare.Trial{Tau: 1, Contender: c.ID, Error: te})
	r.sendProgress(Event{Phase: "pilot", Contender: c.ID, Err: te})
	return r.dropContender(c.ID, te.Error())
}

// copyToControl copies the baseline's pilots to the control.
func (r *run) copyToControl() {
	has := map[string]bool{}
	for _, p := range r.pilots {
		has[p.Workload] = has[p.Workload] || p.Contender == tare.ControlID
	}
	for _, p := range r.pilots {
		if p.Contender == r.study.Baseline && !has[p.Workload] {
			p.Contender = tare.ControlID
			r.pilots = append(r.pilots, p)
		}
	}
	for _, c := range r.conform {
		if c.Contender == r.study.Baseline && !has[c.Workload] {
			c.Contender = tare.ControlID
			r.conform = append(r.conform, c)
		}
	}
}

// fitBeforehand leaves out what the user's budget will have no time for, if every
// contender takes its share of the baseline's time: two pilots took so long.
func (r *run) fitBeforehand(two time.Duration) {
	works := len(r.study.Workloads)
	r.fitTo(r.guessPilots(), func() time.Duration {
		rest := float64(len(r.participants()) - 3) // all but baseline, control and null
		share := float64(len(r.study.Workloads)) / float64(works)
		return r.elapsedTime() + time.Duration(guessedShare*rest*share*float64(two)/2)
	})
}

// pilotOne pilots contender c on works. Once it has used up its share of the limit,
// it leaves out the rest of works.
func (r *run) pilotOne(ctx context.Context, c tare.Contender, works []tare.Workload) error {
	start := r.o.Now()
	s, err := r.openTrial(ctx, c.ID, "pilot")
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	opened := r.o.Now().Sub(start)
	did := 0
	starts := map[string]time.Duration{}
	for i, w := range works {
		if c.Role != tare.RoleBaseline && !w.Asks(c.ID) {
			continue
		}
		if did > 0 && r.isPilotOver(c) {
			r.omitPilots(works[i:])
			break
		}
		in := r.inputs[w.ID]
		start := r.o.Now()
		prep, err := s.Prepare(ctx, r.withSet(c.ID, in))
		if err != nil {
			return err
		}
		if prep.Unsupported {
			continue
		}
		did++
		prepared := r.o.Now().Sub(start)
		conf, err := r.checkConformance(ctx, s, in, tare.Conformance{Contender: c.ID, Fresh: prep.Fresh})
		if err != nil {
			return err
		}
		r.conform = append(r.conform, conf)
		p, err := r.pilotWorkload(ctx, s, c.ID, w)
		if err != nil {
			return err
		}
		if g, ok := r.kind.(Grouper); ok {
			p.Process = g.Group(in)
			if _, isStarted := starts[p.Process]; !isStarted {
				starts[p.Process], prepared = opened+prepared, 0
			}
			opened = 0
			p.StartNS = float64(starts[p.Process])
		}
		p.SetupNS += float64(opened + prepared)
		opened = 0
		r.pilots = append(r.pilots, p)
	}
	if err := r.sendProbes(ctx, s, c.ID); err != nil {
		return err
	}
	if did == 0 && slices.ContainsFunc(works, func(w tare.Workload) bool { return w.Asks(c.ID) }) {
		return &tare.TrialError{Class: tare.ErrContender, Message: "it can do none of the study's workloads"}
	}
	return nil
}

// pilotWorkload measures how long an operation of w takes and what it allocates. The
// set-up that it returns has no start and no prepare.
func (r *run) pilotWorkload(ctx context.Context, s *trial.Session, contender string, w tare.Workload) (tare.Pilot, error) {
	p := tare.Pilot{Contender: contender, Workload: w.ID}
	expected, isKnown := r.expectedOf(contender, w.ID)
	share := expected.TimedShare()
	first, err := s.Warm(ctx, w.ID, warmGC, timedPart(warmUpTime(w), share), warmCapNS*time.Nanosecond, 0)
	if err != nil {
		return p, err
	}
	if !isKnown && first.UntimedNS > first.WallNS {
		share = perOp(first.WallNS, first.WallNS+first.UntimedNS)
	}
	warm, err := s.Warm(ctx, w.ID, pilotGC, timedPart(pilotNS, share), warmCapNS*time.Nanosecond, opsForTime(share*pilotNS, perOp(first.WallNS, first.Ops)))
	if err != nil {
		return p, err
	}
	p.NSPerOp = perOp(warm.WallNS, warm.Ops)
	ops := statsOps(p.NSPerOp / share)
	mem, err := s.Stats(ctx, w.ID, ops, expectedTime(ops, p.NSPerOp/share)+time.Duration(expected.AroundNS))
	if err != nil {
		return p, err
	}
	p.BytesPerOp, p.AllocsPerOp = perOp(mem.Bytes, mem.Ops), perOp(mem.Allocs, mem.Ops)
	if warm.GC < 2 && p.BytesPerOp >= 1 && w.Heap == 0 && w.Traffic == nil && w.Slice == 0 { // its cycles are this long: measure longer
		if warm, err = s.Warm(ctx, w.ID, seldomGC, seldomNS*time.Nanosecond, warmCapNS*time.Nanosecond, opsForTime(seldomNS, p.NSPerOp)); err != nil {
			return p, err
		}
	}
	switch {
	case w.Heap > 0 && p.BytesPerOp >= 1: // a cycle comes when as much has been allocated as is alive
		p.CycleNS = float64(w.Heap) / p.BytesPerOp * p.NSPerOp
	case warm.GC >= 2:
		p.CycleNS = float64(warm.WallNS) / float64(warm.GC)
	}
	p.SetupNS = float64(warmUpTime(w)) + float64(ops)*p.NSPerOp
	if warm.UntimedNS+mem.UntimedNS > 0 {
		p.UntimedNS = expected.UntimedNS
		addUntimed(&p, warm, mem)
		p.Counted = mem.Ops < ops
		p.SetupNS = warmMore*float64(warmUpTime(w)) + p.AroundNS
	}
	return p, nil
}

// addUntimed fills in what a benchmark takes in addition to what is timed, by two runs
// of it with different numbers of operations.
func addUntimed(p *tare.Pilot, warm, mem wire.Reply) {
	if more := warm.Ops - mem.Ops; more > 0 {
		p.UntimedNS = float64(warm.UntimedNS-mem.UntimedNS) / float64(more)
	}
	if p.UntimedNS < minUntimedShare*p.NSPerOp { // what testing takes around a run varies as much
		p.UntimedNS = 0
	}
	p.AroundNS = max(0, float64(mem.UntimedNS)-float64(mem.Ops)*p.UntimedNS)
}

// timedPart returns the part of d that is timed, if share of the time is.
func timedPart(d time.Duration, share float64) time.Duration {
	return time.Duration(share * float64(d))
}

// warmUpTime returns how long a warm-up for w may take without collections.
func warmUpTime(w tare.Workload) time.Duration {
	switch {
	case w.Traffic != nil:
		return warmTraffic * time.Nanosecond
	case w.Slice > 0:
		return warmSlice * time.Nanosecond
	}
	return warmNS * time.Nanosecond
}

// opsForTime returns how many operations of nsPerOp take somewhat more than ns, so that a contender
// that runs a fixed number at a time needs to run them once.
func opsForTime(ns, nsPerOp float64) int64 {
	return int64(math.Ceil(warmMore * ns / max(0.1, nsPerOp)))
}

// withSet returns workload in with the study's configuration of contender id in addition to that of
// the workload, which it overrides.
func (r *run) withSet(id string, in wire.Workload) wire.Workload {
	set := r.programs[id].Contender.Set
	if len(set) == 0 {
		return in
	}
	all := maps.Clone(in.Set)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, set)
	in.Set = all
	return in
}

// sendProbes sends contender id the requests that it must reject.
func (r *run) sendProbes(ctx context.Context, s *trial.Session, id string) error {
	for _, in := range r.probes {
		prep, err := s.Prepare(ctx, r.withSet(id, in))
		if err != nil {
			return err
		}
		if prep.Unsupported {
			continue
		}
		conf, err := r.checkConformance(ctx, s, in, tare.Conformance{Contender: id, Fresh: prep.Fresh, Probe: true})
		if err != nil {
			return err
		}
		r.conform = append(r.conform, conf)
	}
	return nil
}

// sharePilots gives the entries of one and the same program one pilot, so that the baseline and its
// control are sliced alike whatever the machine did meanwhile.
func (r *run) sharePilots() {
	same := map[string]int{} // program, variant and workload → its first pilot
	for i := range r.pilots {
		p := &r.pilots[i]
		prog := r.programs[p.Contender]
		key := fmt.Sprint(prog.Contender.SHA256, " ", prog.Variant, " ", prog.Contender.Set, " ", p.Workload)
		first, seen := same[key]
		if !seen || prog.Contender.SHA256 == "" {
			same[key] = i
			continue
		}
		id := p.Contender
		*p = r.pilots[first]
		p.Contender = id
	}
}

// dropWrong drops the contenders with wrong answers. A trap is timed all the same: its figures are
// the published ones. A contender of role apart need not reject what the reference rejects: the
// report lists what it accepts.
func (r *run) dropWrong() {
	for _, c := range r.conform {
		role := r.roleOf(c.Contender)
		if c.Wrong > 0 && role != tare.RoleTrap && !(c.Probe && role == tare.RoleApart) {
			r.dropped[c.Contender] = true
		}
	}
	kept := r.pilots[:0:0]
	for _, p := range r.pilots {
		if !r.dropped[p.Contender] {
			kept = append(kept, p)
		}
	}
	r.pilots = kept
}

// whyDropped returns a sentence about contender id's first wrong answers.
func (r *run) whyDropped(id string) string {
	for _, c := range r.conform {
		if c.Contender == id && c.Wrong > 0 {
			return fmt.Sprintf("%d of %d answers on %s are wrong: %s", c.Wrong, c.Cases, c.Workload, c.First)
		}
	}
	return "it was dropped"
}

func (r *run) wasPilotedOn(id, workload string) bool {
	for _, p := range r.pilots {
		if p.Contender == id && p.Workload == workload {
			return true
		}
	}
	return r.dropped[id] // lost for another reason, which is named instead
}

// openTrial starts a trial of contender id and sends hello.
func (r *run) openTrial(ctx context.Context, id, name string) (*trial.Session, error) {
	p := r.programs[id]
	conn, err := r.kind.Open(ctx, p, trial.Spec{Name: id + "/" + name, Run: r.o.Run, Dir: r.o.Dir, Env: append(r.contenderEnv(), r.builtFor[id]...), Guardian: r.o.Guardian})
	if err != nil {
		return nil, err
	}
	s := &trial.Session{Conn: conn, Trial: id + "/" + name}
	hello, err := s.Hello(ctx, p.Variant, r.orderSeed())
	if err == nil && hello.Kind != r.name {
		err = &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("it says it is a %q; the study asks for a %s", hello.Kind, r.name)}
	}
	if err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

// contenderEnv returns the environment of contenders in addition to that of their kind, which it
// overrides.
func (r *run) contenderEnv() []string {
	env := slices.Clone(r.o.Env)
	if r.o.Procs > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(r.o.Procs))
	}
	return env
}

// orderSeed returns the seed of every order in the run.
func (r *run) orderSeed() string {
	if r.plan.Seed != "" {
		return r.plan.Seed
	}
	return fmt.Sprint(r.o.Seed)
}

// statsOps returns the number of operations over which the pilot counts allocations.
func statsOps(nsPerOp float64) int64 {
	if nsPerOp <= 0 {
		return maxStatsOps
	}
	return min(maxStatsOps, max(2, int64(statsNS/nsPerOp)))
}

func perOp(total, ops int64) float64 {
	if ops == 0 {
		return 0
	}
	return float64(total) / float64(ops)
}

// expectedTime returns the expected duration of ops operations.
func expectedTime(ops int64, nsPerOp float64) time.Duration {
	return time.Duration(float64(ops) * nsPerOp)
}

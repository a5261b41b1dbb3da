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

// A pilot runs a contender briefly before the rounds, only to plan them. On each workload the pilot
// warms the contender up, then makes a time pass and a memory pass.
//
// A warm-up or time pass ends after a number of garbage collection cycles (…GC) or a time in ns (…NS),
// whichever comes first.
const (
	// Warm-up, before the pilot and before the slices (timed pieces) of a round.
	warmGC        = 3
	warmTrafficNS = 100e6 // for a server: it also allocates buffers and accepts connections
	warmSliceNS   = 8e6   // for a benchmark with slices of fixed length: suites have many of them
	warmNS        = 20e6  // for any other workload
	warmCapNS     = 2e9   // longest duration of a warm-up or time pass

	// Time pass, which measures the duration of an operation.
	pilotGC     = 5
	pilotNS     = 100e6
	slowCycleGC = 3   // for the second time pass of a contender with long collection cycles
	slowCycleNS = 1e9 // likewise
	opsMargin   = 1.2 // factor on the expected number of operations, so that a pass has too many, not too few

	// minUntimedShare is the least untimed part of an operation that can be distinguished from chance.
	// It is relative to the timed part.
	minUntimedShare = 0.25

	// Memory pass, which counts allocations.
	statsNS     = 5e6
	minStatsOps = 2
	maxStatsOps = 1000

	sampleCases  = 2  // conformance cases per contender, workload and round
	maxUnrefused = 24 // wrongly accepted requests that are listed at most
)

// runPilots pilots every contender. A pilot checks that the contender answers every case correctly.
// It also measures durations and allocations, to plan slices and not to report them.
//
// The baseline and the null contender (which does no work) come first, because their durations show
// what the budget has time for. The control runs the same program as the baseline, so it gets a copy
// of its pilot. If the results are known in advance, parts that the budget has no time for are
// omitted before any pilot.
func (r *run) runPilots(ctx context.Context) error {
	if err := r.fitToExpectedPilots(); err != nil {
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
	if r.opts.User && r.opts.Rounds == 0 {
		r.fitToGuessedPilots(r.elapsedTime() - began)
	}
	for _, c := range slices.Clone(r.contenders) { // a pilot may remove contenders
		if c.Role == tare.RoleBaseline || c.Role == tare.RoleNull || c.Role == tare.RoleControl {
			continue
		}
		if err := r.pilotOrDrop(ctx, c); err != nil {
			return err
		}
	}
	r.dropIncorrect()
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

// pilotOrDrop pilots one contender, and drops it if the pilot fails. It returns an error if the
// study cannot continue then.
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
	r.trials = append(r.trials, tare.Trial{Tau: 1, Contender: c.ID, Error: te}) // round 0 is the pilot; tau 1 is the planned slice length
	r.sendProgress(Event{Phase: "pilot", Contender: c.ID, Err: te})
	return r.dropContender(c.ID, te.Error())
}

// copyToControl copies the pilots and answers of the baseline to the control, for workloads that the
// control has no pilot of.
func (r *run) copyToControl() {
	hasPilot := map[string]bool{} // by workload
	for _, p := range r.pilots {
		hasPilot[p.Workload] = hasPilot[p.Workload] || p.Contender == tare.ControlID
	}
	for _, p := range r.pilots {
		if p.Contender == r.study.Baseline && !hasPilot[p.Workload] {
			p.Contender = tare.ControlID
			r.pilots = append(r.pilots, p)
		}
	}
	for _, c := range r.conformance {
		if c.Contender == r.study.Baseline && !hasPilot[c.Workload] {
			c.Contender = tare.ControlID
			r.conformance = append(r.conformance, c)
		}
	}
}

// fitToGuessedPilots removes what the user's budget has no time for, if every other contender takes
// guessedShare of the baseline's time. firstPilots is the duration of the pilots of the baseline and
// the null contender.
func (r *run) fitToGuessedPilots(firstPilots time.Duration) {
	allWorks := len(r.study.Workloads)
	meanPilot := float64(firstPilots) / 2 // of the two contenders
	r.removeUntilFits(r.guessPilots(), func() time.Duration {
		others := float64(len(r.listParticipants()) - fixedParticipants)
		worksShare := float64(len(r.study.Workloads)) / float64(allWorks) // less than 1 after workloads were removed
		return r.elapsedTime() + time.Duration(guessedShare*others*worksShare*meanPilot)
	})
}

// pilotOne pilots contender c on its works, and sends it the probes (requests to reject). When the
// time of pilots is used up, it removes the remaining works from the study. If c can do nothing, the
// error is a *tare.TrialError.
func (r *run) pilotOne(ctx context.Context, c tare.Contender, works []tare.Workload) error {
	start := r.opts.Now()
	s, err := r.openTrial(ctx, c.ID, "pilot")
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	openTime := r.opts.Now().Sub(start) // part of the set-up of the first workload; 0 for the others
	done := 0
	startTimes := map[string]time.Duration{} // time to start the process, by group of workloads
	for i, w := range works {
		if c.Role != tare.RoleBaseline && !w.Asks(c.ID) {
			continue
		}
		if done > 0 && r.isPilotTimeSpent(c) {
			r.omitUnpiloted(works[i:])
			break
		}
		input := r.inputs[w.ID]
		start := r.opts.Now()
		prep, err := s.Prepare(ctx, r.withSet(c.ID, input))
		if err != nil {
			return err
		}
		if prep.Unsupported {
			continue
		}
		done++
		prepareTime := r.opts.Now().Sub(start)
		conf, err := r.checkConformance(ctx, s, input, tare.Conformance{Contender: c.ID, Fresh: prep.Fresh})
		if err != nil {
			return err
		}
		r.conformance = append(r.conformance, conf)
		p, err := r.pilotWorkload(ctx, s, c.ID, w)
		if err != nil {
			return err
		}
		if grouper, ok := r.kind.(Grouper); ok {
			p.Process = grouper.Group(input)
			// The first prepare of a group starts its process, which is no set-up of the workload.
			if _, isStarted := startTimes[p.Process]; !isStarted {
				startTimes[p.Process], prepareTime = openTime+prepareTime, 0
			}
			openTime = 0
			p.StartNS = float64(startTimes[p.Process])
		}
		p.SetupNS += float64(openTime + prepareTime)
		openTime = 0
		r.pilots = append(r.pilots, p)
	}
	if err := r.sendProbes(ctx, s, c.ID); err != nil {
		return err
	}
	if done == 0 && slices.ContainsFunc(works, func(w tare.Workload) bool { return w.Asks(c.ID) }) {
		return &tare.TrialError{Class: tare.ErrContender, Message: "it can do none of the study's workloads"}
	}
	return nil
}

// pilotWorkload measures the duration and the allocations of an operation of w. The SetupNS in its
// result excludes the start of the process and the preparation of w.
func (r *run) pilotWorkload(ctx context.Context, s *trial.Session, contender string, w tare.Workload) (tare.Pilot, error) {
	p := tare.Pilot{Contender: contender, Workload: w.ID}
	expected, isKnown := r.expectedPilot(contender, w.ID)
	timedShare := expected.TimedShare() // 1 if the pilot has no expected result
	const limit = warmCapNS * time.Nanosecond
	const unknownOps = 0 // for Warm: the duration of an operation is unknown
	first, err := s.Warm(ctx, w.ID, warmGC, timedPart(warmUpTime(w), timedShare), limit, unknownOps)
	if err != nil {
		return p, err
	}
	if !isKnown && first.UntimedNS > first.WallNS {
		timedShare = perOp(first.WallNS, first.WallNS+first.UntimedNS)
	}
	ops := opsForTime(timedShare*pilotNS, perOp(first.WallNS, first.Ops))
	warm, err := s.Warm(ctx, w.ID, pilotGC, timedPart(pilotNS, timedShare), limit, ops)
	if err != nil {
		return p, err
	}
	p.NSPerOp = perOp(warm.WallNS, warm.Ops)
	memoryOps := statsOps(p.NSPerOp / timedShare)
	mem, err := s.Stats(ctx, w.ID, memoryOps, expectedTime(memoryOps, p.NSPerOp/timedShare)+time.Duration(expected.AroundNS))
	if err != nil {
		return p, err
	}
	p.BytesPerOp, p.AllocsPerOp = perOp(mem.Bytes, mem.Ops), perOp(mem.Allocs, mem.Ops)
	allocates := p.BytesPerOp >= 1
	// Slices of benchmarks and servers are not planned by cycles, and w.Heap determines the cycle
	// below.
	needsCycle := allocates && w.Heap == 0 && w.Traffic == nil && w.Slice == 0
	if needsCycle && warm.GC < 2 { // too few cycles for their mean length: measure longer
		ops := opsForTime(slowCycleNS, p.NSPerOp)
		if warm, err = s.Warm(ctx, w.ID, slowCycleGC, slowCycleNS*time.Nanosecond, limit, ops); err != nil {
			return p, err
		}
	}
	switch {
	case w.Heap > 0 && allocates: // with GOGC=100, a cycle starts when w.Heap bytes more were allocated
		p.CycleNS = float64(w.Heap) / p.BytesPerOp * p.NSPerOp
	case warm.GC >= 2:
		p.CycleNS = float64(warm.WallNS) / float64(warm.GC)
	}
	p.SetupNS = float64(warmUpTime(w)) + float64(memoryOps)*p.NSPerOp
	if warm.UntimedNS+mem.UntimedNS > 0 { // a benchmark of package testing
		p.UntimedNS = expected.UntimedNS
		addUntimed(&p, warm, mem)
		p.Counted = mem.Ops < memoryOps // a benchmark whose slices count allocations runs fewer operations
		p.SetupNS = opsMargin*float64(warmUpTime(w)) + p.AroundNS
	}
	return p, nil
}

// addUntimed sets p.UntimedNS and p.AroundNS from a time pass and a memory pass. The untimed time of a
// run is a straight line over its operations. UntimedNS is the slope (per operation), and AroundNS the
// intercept (per run).
func addUntimed(p *tare.Pilot, warm, mem wire.Reply) {
	if moreOps := warm.Ops - mem.Ops; moreOps > 0 {
		p.UntimedNS = float64(warm.UntimedNS-mem.UntimedNS) / float64(moreOps)
	}
	if p.UntimedNS < minUntimedShare*p.NSPerOp { // the overhead of package testing per run varies by that much
		p.UntimedNS = 0
	}
	p.AroundNS = max(0, float64(mem.UntimedNS)-float64(mem.Ops)*p.UntimedNS)
}

func timedPart(d time.Duration, share float64) time.Duration {
	return time.Duration(share * float64(d))
}

// warmUpTime returns the time after which a warm-up for w ends, unless enough collections end it
// before.
func warmUpTime(w tare.Workload) time.Duration {
	switch {
	case w.Traffic != nil:
		return warmTrafficNS * time.Nanosecond
	case w.Slice > 0:
		return warmSliceNS * time.Nanosecond
	}
	return warmNS * time.Nanosecond
}

// opsForTime returns a number of operations that take somewhat longer than ns. A contender that runs
// a fixed number at a time then usually needs one run.
func opsForTime(ns, nsPerOp float64) int64 {
	const minNSPerOp = 0.1 // divisor if nsPerOp is 0
	return int64(math.Ceil(opsMargin * ns / max(minNSPerOp, nsPerOp)))
}

// withSet returns input with the study's configuration of contender id, which overrides the
// workload's settings.
func (r *run) withSet(id string, input wire.Workload) wire.Workload {
	set := r.programs[id].Contender.Set
	if len(set) == 0 {
		return input
	}
	merged := maps.Clone(input.Set)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, set)
	input.Set = merged
	return input
}

func (r *run) sendProbes(ctx context.Context, s *trial.Session, id string) error {
	for _, probe := range r.probes {
		prep, err := s.Prepare(ctx, r.withSet(id, probe))
		if err != nil {
			return err
		}
		if prep.Unsupported {
			continue
		}
		conf, err := r.checkConformance(ctx, s, probe, tare.Conformance{Contender: id, Fresh: prep.Fresh, Probe: true})
		if err != nil {
			return err
		}
		r.conformance = append(r.conformance, conf)
	}
	return nil
}

// sharePilots gives all entries with the same program the pilot of the first of them. So their
// slices are equally long, even if the machine was busy in one pilot.
func (r *run) sharePilots() {
	firstPilot := map[string]int{} // index in r.pilots, by program, configuration and workload
	for i := range r.pilots {
		p := &r.pilots[i]
		prog := r.programs[p.Contender]
		key := fmt.Sprint(prog.Contender.SHA256, " ", prog.Variant, " ", prog.Contender.Set, " ", p.Workload)
		first, seen := firstPilot[key]
		if !seen || prog.Contender.SHA256 == "" { // without a checksum, two programs may differ
			firstPilot[key] = i
			continue
		}
		id := p.Contender
		*p = r.pilots[first]
		p.Contender = id
	}
}

// dropIncorrect drops contenders with wrong answers. Traps, which reproduce a published mistake,
// stay to show misleading measurements. A contender of RoleApart, of whose answers only the status
// counts, stays if it accepted requests that it must reject.
func (r *run) dropIncorrect() {
	for _, c := range r.conformance {
		role := r.roleOf(c.Contender)
		isAllowed := role == tare.RoleTrap || c.Probe && role == tare.RoleApart
		if c.Wrong > 0 && !isAllowed {
			r.dropped[c.Contender] = true
		}
	}
	remaining := r.pilots[:0:0]
	for _, p := range r.pilots {
		if !r.dropped[p.Contender] {
			remaining = append(remaining, p)
		}
	}
	r.pilots = remaining
}

func (r *run) whyDropped(id string) string {
	for _, c := range r.conformance {
		if c.Contender == id && c.Wrong > 0 {
			return fmt.Sprintf("%d of %d answers on %s are wrong: %s", c.Wrong, c.Cases, c.Workload, c.First)
		}
	}
	return "it was dropped"
}

// wasPilotedOn reports whether contender id has a pilot on workload. It returns true for a dropped
// contender, whose loss is reported instead.
func (r *run) wasPilotedOn(id, workload string) bool {
	return r.pilotOf(id, workload).Contender != "" || r.dropped[id]
}

// openTrial starts a trial of contender id and sends it a hello request. name distinguishes the
// trials of a contender.
func (r *run) openTrial(ctx context.Context, id, name string) (*trial.Session, error) {
	p := r.programs[id]
	conn, err := r.kind.Open(ctx, p, trial.Spec{Name: id + "/" + name, Run: r.opts.Run, Dir: r.opts.Dir, Env: append(r.contenderEnv(), r.builtFor[id]...), Guardian: r.opts.Guardian})
	if err != nil {
		return nil, err
	}
	s := &trial.Session{Conn: conn, Trial: id + "/" + name}
	hello, err := s.Hello(ctx, p.Variant, r.orderSeed())
	if err == nil && hello.Kind != r.kindName {
		err = &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("its kind is %q, and the study requires kind %s", hello.Kind, r.kindName)}
	}
	if err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

func (r *run) contenderEnv() []string {
	env := slices.Clone(r.opts.Env)
	if r.opts.Procs > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(r.opts.Procs))
	}
	return env
}

func (r *run) orderSeed() string {
	if r.plan.Seed != "" {
		return r.plan.Seed
	}
	return fmt.Sprint(r.opts.Seed)
}

func statsOps(nsPerOp float64) int64 {
	if nsPerOp <= 0 {
		return maxStatsOps
	}
	return min(maxStatsOps, max(minStatsOps, int64(statsNS/nsPerOp)))
}

func perOp(total, ops int64) float64 {
	if ops == 0 {
		return 0
	}
	return float64(total) / float64(ops)
}

func expectedTime(ops int64, nsPerOp float64) time.Duration {
	return time.Duration(float64(ops) * nsPerOp)
}

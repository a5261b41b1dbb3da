package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab/journal"
)

// In a round, each contender has one new process, its trial. A slice is one timed run of a number of
// operations in a trial, while all other contenders wait. In lockstep isolation the trials of a round
// are open at the same time and take turns. In trial-wise isolation one trial follows another.

type participant struct {
	id      string         // contender
	session *trial.Session // nil if the trial could not be opened or is closed
	began   time.Time
	trial   tare.Trial // results so far
	failed  bool       // the contender takes no further part in this round

	firstError string // first error of an operation inside a slice; "" if none
}

// runRound runs one round and writes it to the journal. After an error, its slices do not count.
func (r *run) runRound(ctx context.Context, rd tare.Round) error {
	began := r.opts.Now()
	rd.Workloads = r.groupWorkloads(rd.Workloads)
	stopSampler := r.startNoiseSampler()
	var err error
	var done []tare.Slice
	var trials []tare.Trial
	if r.plan.Isolation == tare.TrialWise {
		done, trials, err = r.runTrialWise(ctx, rd)
	} else {
		done, trials, err = r.runLockstep(ctx, rd, rd.Start)
	}
	if err != nil {
		return err
	}
	rd.Noise = stopSampler(trials)
	rd.Seconds = r.opts.Now().Sub(began).Seconds()
	for i := range trials {
		if err := r.journal.Append(journal.Entry{Trial: &trials[i]}); err != nil {
			return err
		}
	}
	if err := r.journal.Append(journal.Entry{Round: &rd}); err != nil {
		return err
	}
	r.rounds = append(r.rounds, rd)
	r.slices = append(r.slices, done...)
	r.trials = append(r.trials, trials...)
	return nil
}

// groupWorkloads sorts the workload ids so that those of a group, which share a process, follow each
// other.
func (r *run) groupWorkloads(names []string) []string {
	grouper, ok := r.kind.(Grouper)
	if !ok {
		return names
	}
	groupOf := func(name string) string { return grouper.Group(r.inputs[name]) }
	firstIndex := map[string]int{} // index of the first workload of each group; Backward visits it last
	for i, name := range slices.Backward(names) {
		firstIndex[groupOf(name)] = i
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(firstIndex[groupOf(a)], firstIndex[groupOf(b)]) })
	return names
}

func (r *run) runTrialWise(ctx context.Context, rd tare.Round) (done []tare.Slice, trials []tare.Trial, err error) {
	for _, id := range rd.Start {
		s, t, err := r.runLockstep(ctx, rd, []string{id})
		if err != nil {
			return nil, nil, err
		}
		done, trials = append(done, s...), append(trials, t...)
	}
	return done, trials, nil
}

// runLockstep opens a trial of each contender in ids. Then it runs every workload slice by slice,
// one contender after another.
func (r *run) runLockstep(ctx context.Context, rd tare.Round, ids []string) (done []tare.Slice, trials []tare.Trial, err error) {
	byID := map[string]*participant{}
	var order []*participant
	defer func() { // closes the trials that are still open after an error
		for _, p := range order {
			if p.session != nil {
				p.session.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	for _, id := range ids {
		if r.dropped[id] {
			continue
		}
		p := &participant{id: id, began: r.opts.Now(), trial: tare.Trial{Round: rd.Index, Tau: rd.Tau, Contender: id, Samples: map[string]tare.Sample{}}}
		byID[id] = p
		order = append(order, p)
		p.session, err = r.openTrial(ctx, id, fmt.Sprintf("round %d", rd.Index))
		if err := r.handleFailure(ctx, p, err); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range rd.Workloads {
		s, err := r.runWorkload(ctx, rd, name, order, byID)
		if err != nil {
			return nil, nil, err
		}
		done = append(done, s...)
	}
	for _, p := range order {
		if p.session != nil {
			p.trial.Evidence = p.session.Close(ctx)
			p.trial.Evidence.FirstError = p.firstError
			p.session = nil
		}
		p.trial.Seconds = r.opts.Now().Sub(p.began).Seconds()
		trials = append(trials, p.trial)
	}
	return done, trials, ctx.Err()
}

// runWorkload runs one workload on the open trials. All prepare it, each warms up, then they run
// their slices in the planned order. At last each makes a memory pass. order and byID have the same
// participants.
func (r *run) runWorkload(ctx context.Context, rd tare.Round, name string, order []*participant, byID map[string]*participant) ([]tare.Slice, error) {
	slicing, _ := r.plan.Slicing(name) // the plan has slices for every workload of a round
	input := r.inputs[name]
	var participants []*participant
	for _, p := range order {
		if !p.failed && slices.Contains(slicing.Contenders, p.id) {
			participants = append(participants, p)
		}
	}
	if r.isLimitReached() {
		return nil, errLimit
	}
	prepareErrs := r.prepareAll(ctx, input, participants)
	for i, p := range participants {
		if r.isLimitReached() {
			return nil, errLimit
		}
		err := prepareErrs[i]
		if err == nil {
			err = r.warmUp(ctx, rd, input, p)
		}
		if err := r.handleFailure(ctx, p, err); err != nil {
			return nil, err
		}
	}
	done, err := r.runSlices(ctx, rd, slicing, byID)
	if err != nil {
		return nil, err
	}
	sums := sumSlices(done)
	for _, p := range participants {
		if p.failed {
			continue
		}
		sample, err := r.makeSample(ctx, slicing, p, sums[p.id])
		if err := r.handleFailure(ctx, p, err); err != nil {
			return nil, err
		}
		p.trial.Samples[name] = sample
	}
	return done, nil
}

// runSlices runs the slices of one workload in the order of the round, and writes each to the
// journal.
func (r *run) runSlices(ctx context.Context, rd tare.Round, slicing tare.Slicing, byID map[string]*participant) ([]tare.Slice, error) {
	var done []tare.Slice
	previous := "" // contender of the previous slice; "" before the first
	for index, ids := range rd.Orders[slicing.Workload] {
		for pos, id := range ids {
			p := byID[id]
			if p == nil || p.failed { // nil in trial-wise isolation, or if id was dropped
				continue
			}
			if r.isLimitReached() {
				return nil, errLimit
			}
			slice, err := r.runSlice(ctx, rd, slicing, p, index)
			if err := r.handleFailure(ctx, p, err); err != nil {
				return nil, err
			}
			if err != nil {
				continue
			}
			slice.Position, slice.After = pos, previous
			previous = id
			if err := r.journal.Append(journal.Entry{Slice: &slice}); err != nil {
				return nil, err
			}
			done = append(done, slice)
		}
	}
	return done, nil
}

// maxPreparing is the number of contenders that read their input at the same time. Nothing is timed
// meanwhile.
const maxPreparing = 2

// prepareAll makes the participants prepare a workload. It returns an error or nil for each, in
// their order.
func (r *run) prepareAll(ctx context.Context, input wire.Workload, participants []*participant) []error {
	errs := make([]error, len(participants))
	preparing := make(chan struct{}, maxPreparing)
	var wg sync.WaitGroup
	for i, p := range participants {
		preparing <- struct{}{}
		wg.Go(func() {
			defer func() { <-preparing }()
			_, errs[i] = p.session.Prepare(ctx, r.withSet(p.id, input))
		})
	}
	wg.Wait()
	return errs
}

// warmUp prepares a contender for its first slice: it checks a sample of the conformance cases, then
// runs the warm-up.
func (r *run) warmUp(ctx context.Context, rd tare.Round, input wire.Workload, p *participant) error {
	cases := plan.Sample(r.plan, rd.Index, p.id, input.Bodies, sampleCases)
	conf := tare.Conformance{Contender: p.id, Workload: input.ID, During: true}
	if err := r.checkCases(ctx, p.session, input, cases, &conf); err != nil {
		return err
	}
	if conf.First != "" {
		conf.First = fmt.Sprintf("round %d: %s", rd.Index, conf.First)
	}
	p.trial.Answers = append(p.trial.Answers, conf)
	w, _ := r.workloadOf(input.ID)
	pilot := r.pilotOf(p.id, input.ID)
	length := timedPart(warmUpTime(w), pilot.TimedShare())
	ops := opsForTime(float64(length), pilot.NSPerOp)
	_, err := p.session.Warm(ctx, input.ID, warmGC, length, warmCapNS*time.Nanosecond, ops)
	return err
}

// pilotOf returns the pilot of a contender on a workload, or the zero value without one.
func (r *run) pilotOf(contender, workload string) tare.Pilot {
	for _, p := range r.pilots {
		if p.Contender == contender && p.Workload == workload {
			return p
		}
	}
	return tare.Pilot{}
}

// estimateUntimed returns the expected untimed part of ops operations.
func (r *run) estimateUntimed(contender, workload string, ops int64) time.Duration {
	p := r.pilotOf(contender, workload)
	return time.Duration(p.AroundNS + float64(ops)*p.UntimedNS)
}

// minCappedOps is the number of operations that a slice runs even after its time cap.
const minCappedOps = 10

// runSlice makes the contender of p run the slice with index, while all others wait. In a round that
// checks the slice length, rd.Tau is above 1 and the slice as many times as long.
func (r *run) runSlice(ctx context.Context, rd tare.Round, slicing tare.Slicing, p *participant, index int) (tare.Slice, error) {
	tau := int64(rd.Tau)
	request := wire.Request{
		On: slicing.Workload, Until: string(slicing.Until[p.id]),
		Lead: slicing.Lead[p.id], Ops: slicing.Ops[p.id] * tau, CapOps: minCappedOps * tau,
	}
	if slicing.Until[p.id] == tare.UntilGC { // other slices end after Ops, whatever their duration
		request.Cycles = slicing.Cycles[p.id] * tau
		request.MinNS = slicing.MinNS * tau
		request.CapNS = slicing.CapNS * tau
	}
	// A lead-in and the slice after it may each last until cap_ns. The deadline is twenty times the
	// expected duration. So a fifth of cap_ns as the least expected duration covers both.
	expected := time.Duration(max(slicing.TargetNS, slicing.CapNS/5) * tau)
	reply, err := p.session.Slice(ctx, request, expected+r.estimateUntimed(p.id, slicing.Workload, request.Ops))
	if err != nil {
		return tare.Slice{}, err
	}
	if reply.Errors > 0 && p.firstError == "" {
		p.firstError = reply.Message
	}
	return tare.Slice{
		Round: rd.Index, Index: index, Tau: rd.Tau, Workload: slicing.Workload, Contender: p.id,
		Ops: reply.Ops, WallNS: reply.WallNS, CPUNS: reply.CPUNS, IdleCPUNS: reply.IdleCPUNS,
		GC: reply.GC, Errors: reply.Errors, BytesOut: reply.BytesOut,
	}, nil
}

// makeSample returns values per operation from sum, the sum of a contender's slices, and from a
// memory pass, which it runs. The sample is empty if sum has no operations.
func (r *run) makeSample(ctx context.Context, slicing tare.Slicing, p *participant, sum tare.Slice) (tare.Sample, error) {
	if sum.Ops == 0 {
		return tare.Sample{}, nil
	}
	ns := perOp(sum.WallNS, sum.Ops)
	s := tare.Sample{
		"time_ns_per_op":    ns,
		"cpu_ns_per_op":     perOp(sum.CPUNS+sum.IdleCPUNS, sum.Ops),
		"size_bytes_per_op": perOp(sum.BytesOut, sum.Ops),
		"errors":            float64(sum.Errors),
		tare.KeyOps:         float64(sum.Ops),
		"gc_cycles":         float64(sum.GC),
	}
	// Read the gauges before the memory pass, which would add to them.
	gauges, histogram := p.session.Gauges(slicing.Workload)
	maps.Copy(s, gauges)
	if histogram != "" {
		if p.trial.Histograms == nil {
			p.trial.Histograms = map[string]string{}
		}
		p.trial.Histograms[slicing.Workload] = histogram
	}
	expected := expectedTime(slicing.MemoryOps, ns) + r.estimateUntimed(p.id, slicing.Workload, slicing.MemoryOps)
	mem, err := p.session.Stats(ctx, slicing.Workload, slicing.MemoryOps, expected)
	if err != nil {
		return s, err
	}
	if !mem.Unsupported {
		s["bytes_per_op"], s["allocs_per_op"] = perOp(mem.Bytes, mem.Ops), perOp(mem.Allocs, mem.Ops)
	}
	return s, nil
}

// handleFailure handles err, an error of the trial of p, or nil. After a *tare.TrialError the round
// continues without the contender. It returns an error only if the study cannot continue.
func (r *run) handleFailure(ctx context.Context, p *participant, err error) error {
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
	p.failed, p.trial.Error = true, te
	r.sendProgress(Event{Phase: "trial", Contender: p.id, Err: te, Round: p.trial.Round})
	why := check.GivenUp(append(slices.Clip(r.trials), p.trial), p.id, r.plan.RoundsPlanned)
	if why == "" {
		return nil
	}
	return r.dropContender(p.id, fmt.Sprintf("%s (%s)", te.Error(), why))
}

func sumSlices(done []tare.Slice) map[string]tare.Slice {
	sums := map[string]tare.Slice{}
	for _, s := range done {
		sum := sums[s.Contender]
		sum.Ops += s.Ops
		sum.WallNS += s.WallNS
		sum.CPUNS += s.CPUNS
		sum.IdleCPUNS += s.IdleCPUNS
		sum.GC += s.GC
		sum.Errors += s.Errors
		sum.BytesOut += s.BytesOut
		sums[s.Contender] = sum
	}
	return sums
}

// runQueueShare returns the time that trials waited for a processor, as a share of the time that
// they waited or ran. It is -1 if unknown.
func runQueueShare(trials []tare.Trial) float64 {
	var wait, busy float64
	for _, t := range trials {
		if t.Evidence.RunQueueNS > 0 {
			wait += float64(t.Evidence.RunQueueNS) / 1e9
			busy += t.Evidence.CPUSeconds
		}
	}
	if wait+busy == 0 {
		return -1
	}
	return wait / (wait + busy)
}

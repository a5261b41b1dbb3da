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

// seat is a contender's place in a round: its open trial and what it did.
type seat struct {
	id      string
	session *trial.Session
	began   time.Time
	trial   tare.Trial
	gone    bool // it failed, and its round is void; the others go on

	firstError string // that an operation returned inside a slice
}

// runRound runs one round and journals it. Its slices count only if it returns without an error.
func (r *run) runRound(ctx context.Context, rd tare.Round) error {
	began := r.o.Now()
	rd.Workloads = r.groupWorkloads(rd.Workloads)
	noise := r.startGauge()
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
	rd.Noise = noise(trials)
	rd.Seconds = r.o.Now().Sub(began).Seconds()
	for i := range trials {
		if err := r.out.Append(journal.Entry{Trial: &trials[i]}); err != nil {
			return err
		}
	}
	if err := r.out.Append(journal.Entry{Round: &rd}); err != nil {
		return err
	}
	r.rounds = append(r.rounds, rd)
	r.slices = append(r.slices, done...)
	r.trials = append(r.trials, trials...)
	return nil
}

// groupWorkloads returns the workloads of each group next to each other, in the order in
// which the groups come first.
func (r *run) groupWorkloads(names []string) []string {
	g, ok := r.kind.(Grouper)
	if !ok {
		return names
	}
	rank := map[string]int{}
	of := func(name string) string { return g.Group(r.inputs[name]) }
	for i, name := range slices.Backward(names) {
		rank[of(name)] = i
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank[of(a)], rank[of(b)]) })
	return names
}

// runTrialWise runs one complete trial after another, in the round's order.
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

// runLockstep opens the trials of ids and takes them through every workload slice by slice.
func (r *run) runLockstep(ctx context.Context, rd tare.Round, ids []string) (done []tare.Slice, trials []tare.Trial, err error) {
	seats := map[string]*seat{}
	var order []*seat
	defer func() {
		for _, st := range order { // whatever happened, nothing stays open
			if st.session != nil {
				st.session.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	for _, id := range ids {
		if r.dropped[id] {
			continue
		}
		st := &seat{id: id, began: r.o.Now(), trial: tare.Trial{Round: rd.Index, Tau: rd.Tau, Contender: id, Samples: map[string]tare.Sample{}}}
		seats[id], order = st, append(order, st)
		st.session, err = r.openTrial(ctx, id, fmt.Sprintf("round %d", rd.Index))
		if err := r.handleFailure(ctx, st, err); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range rd.Workloads {
		s, err := r.runWorkload(ctx, rd, name, order, seats)
		if err != nil {
			return nil, nil, err
		}
		done = append(done, s...)
	}
	for _, st := range order {
		if st.session != nil {
			st.trial.Evidence = st.session.Close(ctx)
			st.trial.Evidence.FirstError = st.firstError
			st.session = nil
		}
		st.trial.Seconds = r.o.Now().Sub(st.began).Seconds()
		trials = append(trials, st.trial)
	}
	return done, trials, ctx.Err()
}

// runWorkload takes the open trials through one workload.
func (r *run) runWorkload(ctx context.Context, rd tare.Round, name string, order []*seat, seats map[string]*seat) ([]tare.Slice, error) {
	sl, _ := r.plan.Slicing(name)
	in := r.inputs[name]
	takes := map[string]bool{}
	for _, id := range sl.Contenders {
		takes[id] = true
	}
	var takers []*seat
	for _, st := range order {
		if !st.gone && takes[st.id] {
			takers = append(takers, st)
		}
	}
	if r.isOver() {
		return nil, errLimit
	}
	prepared := r.prepareAll(ctx, in, takers)
	for i, st := range takers {
		if r.isOver() {
			return nil, errLimit
		}
		err := prepared[i]
		if err == nil {
			err = r.warmUp(ctx, rd, in, st)
		}
		if err := r.handleFailure(ctx, st, err); err != nil {
			return nil, err
		}
	}
	var out []tare.Slice
	sums := map[string]*tare.Slice{}
	after := ""
	for i, visit := range rd.Orders[name] {
		for pos, id := range visit {
			st := seats[id]
			if st == nil || st.gone {
				continue
			}
			if r.isOver() {
				return nil, errLimit
			}
			slice, err := r.runSlice(ctx, rd, sl, st, i)
			if err := r.handleFailure(ctx, st, err); err != nil {
				return nil, err
			}
			if err != nil {
				continue
			}
			slice.Position, slice.After = pos, after
			after = id
			if err := r.out.Append(journal.Entry{Slice: &slice}); err != nil {
				return nil, err
			}
			out = append(out, slice)
			addSlice(sums, slice)
		}
	}
	for _, st := range takers {
		if st.gone {
			continue
		}
		sample, err := r.makeSample(ctx, sl, st, sums[st.id])
		if err := r.handleFailure(ctx, st, err); err != nil {
			return nil, err
		}
		st.trial.Samples[name] = sample
	}
	return out, nil
}

// maxPreparing is the number of contenders that read their input concurrently. Nothing is timed
// meanwhile.
const maxPreparing = 2

// prepareAll hands the contenders their input for a workload and returns one
// error for each.
func (r *run) prepareAll(ctx context.Context, in wire.Workload, seats []*seat) []error {
	errs := make([]error, len(seats))
	limit := make(chan struct{}, maxPreparing)
	var all sync.WaitGroup
	for i, st := range seats {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			_, errs[i] = st.session.Prepare(ctx, r.withSet(st.id, in))
		})
	}
	all.Wait()
	return errs
}

// warmUp prepares a contender for its first slice: a sample of the conformance cases, then the
// warm-up.
func (r *run) warmUp(ctx context.Context, rd tare.Round, in wire.Workload, st *seat) error {
	cases := plan.Sample(r.plan, rd.Index, st.id, in.Bodies, sampleCases)
	conf := tare.Conformance{Contender: st.id, Workload: in.ID, During: true}
	if err := r.checkCases(ctx, st.session, in, cases, &conf); err != nil {
		return err
	}
	if conf.First != "" {
		conf.First = fmt.Sprintf("round %d: %s", rd.Index, conf.First)
	}
	st.trial.Answers = append(st.trial.Answers, conf)
	w, _ := r.workloadOf(in.ID)
	known := r.pilotOf(st.id, in.ID)
	least := timedPart(warmUpTime(w), known.TimedShare())
	_, err := st.session.Warm(ctx, in.ID, warmGC, least, warmCapNS*time.Nanosecond, opsForTime(float64(least), known.NSPerOp))
	return err
}

// pilotOf returns the pilot of a contender on a workload, or the zero value if there is none.
func (r *run) pilotOf(contender, workload string) tare.Pilot {
	for _, p := range r.pilots {
		if p.Contender == contender && p.Workload == workload {
			return p
		}
	}
	return tare.Pilot{}
}

// estimateUntimed returns how long ops operations take in addition to what is timed.
func (r *run) estimateUntimed(contender, workload string, ops int64) time.Duration {
	p := r.pilotOf(contender, workload)
	return time.Duration(p.AroundNS + float64(ops)*p.UntimedNS)
}

// runSlice hands the token to st for slice i.
func (r *run) runSlice(ctx context.Context, rd tare.Round, sl tare.Slicing, st *seat, i int) (tare.Slice, error) {
	tau := int64(rd.Tau)
	ops := sl.Ops[st.id]
	q := wire.Request{
		On: sl.Workload, Until: string(sl.Until[st.id]),
		Lead: sl.Lead[st.id], Ops: ops * tau,
		MinNS: sl.MinNS * tau, CapNS: sl.CapNS * tau, CapOps: 10 * tau,
	}
	if sl.Until[st.id] == tare.UntilGC {
		q.Cycles = sl.Cycles[st.id] * tau
	} else {
		q.MinNS, q.CapNS = 0, 0
	}
	// A lead-in and the slice after it may each last until cap_ns; the deadline,
	// twenty times what is expected, is beyond both.
	expected := time.Duration(max(sl.TargetNS, sl.CapNS/5) * tau)
	a, err := st.session.Slice(ctx, q, expected+r.estimateUntimed(st.id, sl.Workload, q.Ops))
	if err != nil {
		return tare.Slice{}, err
	}
	if a.Errors > 0 && st.firstError == "" {
		st.firstError = a.Message
	}
	return tare.Slice{
		Round: rd.Index, Index: i, Tau: rd.Tau, Workload: sl.Workload, Contender: st.id,
		Ops: a.Ops, WallNS: a.WallNS, CPUNS: a.CPUNS, IdleCPUNS: a.IdleCPUNS,
		GC: a.GC, Errors: a.Errors, BytesOut: a.BytesOut,
	}, nil
}

// makeSample sums a contender's slices and makes the memory pass.
func (r *run) makeSample(ctx context.Context, sl tare.Slicing, st *seat, sum *tare.Slice) (tare.Sample, error) {
	if sum == nil || sum.Ops == 0 {
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
	// What was recorded of the slices is read before the memory pass adds to it.
	gauges, histogram := st.session.Gauges(sl.Workload)
	maps.Copy(s, gauges)
	if histogram != "" {
		if st.trial.Histograms == nil {
			st.trial.Histograms = map[string]string{}
		}
		st.trial.Histograms[sl.Workload] = histogram
	}
	mem, err := st.session.Stats(ctx, sl.Workload, sl.MemoryOps, expectedTime(sl.MemoryOps, ns)+r.estimateUntimed(st.id, sl.Workload, sl.MemoryOps))
	if err != nil {
		return s, err
	}
	if !mem.Unsupported {
		s["bytes_per_op"], s["allocs_per_op"] = perOp(mem.Bytes, mem.Ops), perOp(mem.Allocs, mem.Ops)
	}
	return s, nil
}

// handleFailure handles a trial's error: the contender is out of this round, which continues, and
// takes part in the next, unless it has failed too often. It returns an error only if the study
// cannot continue; the round is then discarded.
func (r *run) handleFailure(ctx context.Context, st *seat, err error) error {
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
	st.gone, st.trial.Error = true, te
	r.sendProgress(Event{Phase: "trial", Contender: st.id, Err: te, Round: st.trial.Round})
	why := check.GivenUp(append(slices.Clip(r.trials), st.trial), st.id, r.plan.RoundsPlanned)
	if why == "" {
		return nil
	}
	return r.dropContender(st.id, fmt.Sprintf("%s (%s)", te.Error(), why))
}

func addSlice(sums map[string]*tare.Slice, s tare.Slice) {
	t := sums[s.Contender]
	if t == nil {
		t = &tare.Slice{}
		sums[s.Contender] = t
	}
	t.Ops += s.Ops
	t.WallNS += s.WallNS
	t.CPUNS += s.CPUNS
	t.IdleCPUNS += s.IdleCPUNS
	t.GC += s.GC
	t.Errors += s.Errors
	t.BytesOut += s.BytesOut
}

// runQueueShare returns the share of their time that the trials waited for a processor. It is
// negative if no trial recorded that.
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

// Package lab runs studies, which measure and compare programs, the contenders. It builds the
// contenders, runs a pilot of each, and plans the rounds. One contender at a time then runs a slice, a
// short timed run. The run stops when the evidence is enough or the budget is spent.
//
// The terms of the method are defined in package [github.com/tarebench/tare]. Three belong to this
// package. A pilot runs a contender briefly before the rounds, only to plan them. Exams test a
// contender with edge cases on which implementations differ. A part of a study is omitted if this run
// does not measure it.
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab/journal"
)

// Default budgets of a study that sets none.
const (
	DefaultQuick = 40 * time.Second
	DefaultFull  = 5 * time.Minute
)

// LostError is the error of a study that cannot continue without the lost contender. Every comparison
// needs the baseline, the control (the baseline a second time) and the null contender (which does no
// work).
type LostError struct {
	Contender string // its id, its role, or both
	Why       string // one line
}

// Error returns one line.
func (e *LostError) Error() string {
	return fmt.Sprintf("lost %s, which every comparison needs: %s", e.Contender, e.Why)
}

// Budget returns the default measuring time of a study with budget b, including the pilots. The fewest
// rounds that allow a verdict can take longer.
func Budget(b tare.Budget, quick bool) time.Duration {
	if quick {
		return cmp.Or(b.Quick, DefaultQuick)
	}
	return cmp.Or(b.Full, DefaultFull)
}

// ExpectError is the error of a run whose checks missed traps, although they had enough evidence. A
// trap is a contender that reproduces a published mistake.
type ExpectError struct {
	Missed []string // one line for each missed trap
}

// Error returns the first missed trap and the number of the others.
func (e *ExpectError) Error() string {
	s := e.Missed[0]
	if n := len(e.Missed) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// StudyError is the error of an invalid study.
type StudyError struct {
	Study string // id
	Err   error
}

// Error returns the id of the study and the text of Err.
func (e *StudyError) Error() string { return fmt.Sprintf("study %s: %v", e.Study, e.Err) }

// Unwrap returns Err.
func (e *StudyError) Unwrap() error { return e.Err }

// run is a study during its measurement. The order is newRun, makePlan (pilots), measureRounds,
// makeResult.
type run struct {
	opts     Options
	kind     Kind
	kindName string
	study    tare.Study // the part that is measured

	contenders   []tare.Contender         // in plan order
	programs     map[string]build.Program // by contender id
	builtFor     map[string][]string      // by contender id: environment of its command, NAME=value
	inputs       map[string]wire.Workload // by workload id
	probes       []wire.Workload          // requests that must be rejected
	profiles     []tare.Profile
	allWorkloads []tare.Workload // workloads before any was omitted for lack of time

	// A contender or a workload is omitted if it is not measured. The user may not have selected it, a
	// program may be missing, or the time too short.
	omitted        []tare.NotWeighed // without omittedForTime until the rounds are planned
	omittedForTime []tare.NotWeighed // equals plan.LeftOut once the rounds are planned
	failedPilot    map[string]bool   // omitted workloads whose second pilot gave no result; nil if empty

	planPace  float64 // ratio of the duration of a round to the pilots' forecast; 0 means 1
	plannedAt int     // rounds that were done when plan was made

	resumedLog     *journal.Log // journal of the run that is resumed; empty for a new run
	journal        *journal.Writer
	plan           tare.Plan // RoundsPlanned is 0 until the pilots are done
	pilots         []tare.Pilot
	exams          journal.Exams
	conformance    []tare.Conformance // results for workloads in the pilots, and for requests to reject
	dropped        map[string]bool    // contenders that take no part any more
	rounds         []tare.Round       // finished ones, also with longer slices
	slices         []tare.Slice       // slices of the finished rounds
	trials         []tare.Trial       // trials of the finished rounds, and failed ones of the pilot
	started        time.Time          // when the budget of this run began; zero before the journal is open
	spentBefore    time.Duration      // time spent by the resumed run, or Options.Spent
	uncountedTime  time.Duration      // time since started that does not count against the budget
	stopped        string             // how the study ended, e.g. Decided; "" while it runs
	longRoundsDone int                // finished rounds with longer slices
}

// Run measures study. Three errors come with a result. One is an *ExpectError. One is the error of a
// ctx that was cancelled after a round. The third is an error of writing the end of the journal.
func Run(ctx context.Context, study tare.Study, o Options) (*tare.Result, error) {
	r, err := newRun(study, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.inputDir()) // inputs can be made again, so only their checksums are stored
	facts := r.machineFacts(ctx)

	if err := r.buildContenders(ctx); err != nil {
		return nil, err
	}
	if err := r.checkHeaps(facts.Memory); err != nil {
		return nil, err
	}
	if err := r.checkData(r.availableMemory()); err != nil {
		return nil, err
	}
	if r.opts.User && r.opts.Rounds == 0 {
		if err := CheckBudget(r.study, r.opts.Budget); err != nil {
			return nil, err
		}
	}
	if err := r.openJournal(); err != nil {
		return nil, err
	}
	defer r.journal.Close()
	r.started, r.spentBefore = r.opts.Now(), r.opts.Spent
	if err := r.makePlan(ctx); err != nil {
		return nil, err
	}
	if err := r.measureRounds(ctx); err != nil && ctx.Err() == nil { // after a cancellation, the finished rounds are judged
		return nil, err
	}
	if ctx.Err() != nil && len(r.rounds) == 0 {
		return nil, ctx.Err()
	}
	if err := r.takeProfiles(ctx); err != nil {
		return nil, err
	}
	facts.Noise = r.averageNoise()
	res := r.makeResult(facts)
	r.sendProgress(Event{Phase: "done", Round: len(r.rounds), Rounds: r.plan.RoundsPlanned, Plan: &r.plan, Elapsed: r.elapsedTime(), Message: r.stopped})
	if err := ctx.Err(); err != nil {
		return res, err
	}
	if !r.isDone() {
		if err := r.journal.Append(journal.Entry{Done: &journal.Done{Stopped: r.stopped, Seconds: res.Seconds}}); err != nil {
			return res, err
		}
	}
	if r.stopped != Interrupted {
		if missed := check.MissedTraps(res.Expectations); len(missed) > 0 {
			return res, &ExpectError{Missed: missed}
		}
	}
	return res, nil
}

// newRun checks the options, selects the part of the study to measure, and writes the inputs.
func newRun(study tare.Study, o Options) (*run, error) {
	if err := study.Validate(); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	kind, ok := o.Kinds[string(study.Kind)]
	if !ok {
		return nil, &StudyError{study.ID, fmt.Errorf("kind: unknown kind %q; known: %s", study.Kind, joinKeys(o.Kinds))}
	}
	if err := setDefaults(&o, study); err != nil {
		return nil, err
	}
	r := &run{
		opts: o, kind: kind, kindName: string(study.Kind), study: study,
		programs:   map[string]build.Program{},
		builtFor:   map[string][]string{},
		inputs:     map[string]wire.Workload{},
		dropped:    map[string]bool{},
		resumedLog: &journal.Log{},
	}
	var err error
	if r.study, r.omitted, err = Part(study, r.isReduced(), o.Only); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	if err := atomicfile.MakeDir(r.inputDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make the run's directory: %w", err)
	}
	if err := r.writeInputs(study); err != nil {
		return nil, err
	}
	if err := r.writeProbes(); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	if err := r.describeWorkloads(); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	r.allWorkloads = r.study.Workloads
	return r, nil
}

// setDefaults sets the options that are zero, and makes the path of the directory absolute.
func setDefaults(o *Options, study tare.Study) error {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("find the run's directory: %w", err)
	}
	o.Dir = dir
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LookPath == nil {
		o.LookPath = machine.Tool
	}
	if o.Isolation == "" {
		o.Isolation = tare.Lockstep
	}
	if o.Seed == 0 {
		o.Seed = uint64(o.Now().UnixNano())
	}
	if o.Budget == 0 {
		o.Budget = Budget(study.Budget, o.Quick)
	}
	return nil
}

// isReduced reports whether the run measures only what a claim, a criterion or an expectation needs.
// It does so at quick, and if the user's budget is below half of the full one.
func (r *run) isReduced() bool {
	isShort := r.opts.User && r.opts.Rounds == 0 && r.opts.Budget < Budget(r.study.Budget, false)/2
	return r.opts.Quick || isShort
}

func (r *run) openJournal() error {
	path := filepath.Join(r.opts.Dir, journal.FileName)
	fingerprint := r.studyFingerprint()
	if !r.opts.Resume {
		out, err := journal.Create(path, journal.Head{
			Study: r.study.ID, Fingerprint: fingerprint, Options: r.statedOptions(),
			Started: r.opts.Now().UTC().Format(time.RFC3339),
		})
		r.journal = out
		return err
	}
	log, out, err := journal.Resume(path)
	if errors.As(err, new(*fs.PathError)) { // the file cannot be read; a *ResumeError is about its content
		return err
	}
	if err != nil {
		return &ResumeError{Path: path, Why: oneLine(err.Error())}
	}
	if why := whyMismatch(log.Head, fingerprint, r.statedOptions()); why != "" {
		out.Close()
		return &ResumeError{Path: path, Why: why}
	}
	r.resumedLog, r.journal = log, out
	return nil
}

// makePlan takes the plan from the journal of an earlier run. Without one it runs the pilots and the
// exams, plans the rounds, and writes all to the journal.
func (r *run) makePlan(ctx context.Context) error {
	if r.resumedLog.Plan != nil {
		return r.restorePlan()
	}
	if err := r.runPilots(ctx); err != nil {
		return err
	}
	if err := r.runOutsideBudget(func() error { return r.runExams(ctx) }); err != nil {
		return err
	}
	p := r.fitToPilots(r.pilots, r.elapsedTime())
	r.forgetDropped()
	p.LeftOut = r.omittedForTime
	r.omitted = append(r.omitted, r.omittedForTime...)
	r.plan = p
	r.plan.PilotSeconds = r.elapsedTime().Seconds()
	entries := []journal.Entry{{Conformance: r.conformance}, {Pilots: r.pilots}, {Exams: &r.exams}}
	for i := range r.trials { // so far, only those that failed in the pilot
		entries = append(entries, journal.Entry{Trial: &r.trials[i]})
	}
	for _, e := range append(entries, journal.Entry{Plan: &r.plan}) {
		if err := r.journal.Append(e); err != nil {
			return err
		}
	}
	r.sendProgress(Event{Phase: "plan", Plan: &r.plan, Rounds: p.RoundsPlanned, Left: r.remainingBudget()})
	return nil
}

func (r *run) restorePlan() error {
	r.plan, r.pilots, r.conformance = *r.resumedLog.Plan, r.resumedLog.Pilots, r.resumedLog.Conformance
	r.rounds, r.slices, r.trials = r.resumedLog.Rounds, r.resumedLog.Slices, r.resumedLog.Trials
	if r.resumedLog.Exams != nil {
		r.exams = *r.resumedLog.Exams
	}
	r.removeOmitted()
	r.spentBefore = time.Duration(r.plan.PilotSeconds * float64(time.Second))
	for _, rd := range r.rounds {
		r.spentBefore += time.Duration(rd.Seconds * float64(time.Second))
		if rd.Tau > 1 { // an extra round with longer slices
			r.longRoundsDone++
		}
	}
	for _, c := range r.contenders {
		if check.GivenUp(r.trials, c.ID, r.plan.RoundsPlanned) != "" {
			r.dropped[c.ID] = true
		}
	}
	r.dropIncorrect()
	if err := r.addLook(); err != nil {
		return err
	}
	r.sendProgress(Event{Phase: "plan", Plan: &r.plan, Rounds: r.plan.RoundsPlanned, Round: len(r.rounds),
		Message: fmt.Sprintf("resumed after round %d (%d slices of a round in flight were lost)", len(r.rounds)-r.longRoundsDone, r.resumedLog.Lost)})
	return nil
}

// elapsedTime returns the measuring time so far; 0 before the journal is open.
func (r *run) elapsedTime() time.Duration {
	if r.started.IsZero() {
		return 0
	}
	return r.spentBefore + r.opts.Now().Sub(r.started) - r.uncountedTime
}

// runOutsideBudget calls do without counting its time. It is for work whose result is stored, like a
// build, so that the next run does not repeat it.
func (r *run) runOutsideBudget(do func() error) error {
	began := r.opts.Now()
	defer func() { r.uncountedTime += r.opts.Now().Sub(began) }()
	return do()
}

func (r *run) remainingBudget() time.Duration { return max(0, r.opts.Budget-r.elapsedTime()) }

func (r *run) sendProgress(e Event) {
	if r.opts.Progress != nil {
		r.opts.Progress(e)
	}
}

func (r *run) machineFacts(ctx context.Context) tare.Machine {
	if r.opts.Machine != nil {
		return *r.opts.Machine
	}
	m := machine.Facts(ctx)
	m.Unlocked = r.opts.Unlocked
	return m
}

// averageNoise returns the mean of the machine's noise over all rounds, weighted by their duration.
// A share that no round has is -1.
func (r *run) averageNoise() tare.Noise {
	if r.opts.Machine != nil {
		return r.opts.Machine.Noise
	}
	average := func(share func(tare.Noise) float64) float64 {
		var sum, seconds float64
		for _, rd := range r.rounds {
			if s := share(rd.Noise); s >= 0 { // negative means unknown
				sum += s * rd.Seconds
				seconds += rd.Seconds
			}
		}
		if seconds == 0 {
			return -1
		}
		return sum / seconds
	}
	noise := tare.Noise{
		CPUPressure:  average(func(n tare.Noise) float64 { return n.CPUPressure }),
		RunQueueWait: runQueueShare(r.trials),
		Throttled:    average(func(n tare.Noise) float64 { return n.Throttled }),
	}
	other := average(func(n tare.Noise) float64 {
		if n.OtherCPU == nil {
			return -1
		}
		return *n.OtherCPU
	})
	if other >= 0 {
		noise.OtherCPU = &other
	}
	return noise
}

// startNoiseSampler starts to record the machine's noise. The returned function returns the noise
// since the start. Its argument is the trials that ran meanwhile, which know how long they waited
// for a processor.
func (r *run) startNoiseSampler() func(trials []tare.Trial) tare.Noise {
	if r.opts.Machine != nil {
		return func([]tare.Trial) tare.Noise { return r.opts.Machine.Noise }
	}
	g := machine.StartGauge()
	return func(trials []tare.Trial) tare.Noise {
		n := g.Stop()
		n.RunQueueWait = runQueueShare(trials)
		return n
	}
}

// Package lab carries a study out: it builds the contenders, pilots them,
// plans the rounds, hands the token from slice to slice, journals every slice,
// and stops when the evidence is enough or the budget is spent.
package lab

import (
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

// Default budgets of a study that names none.
const (
	DefaultQuick = 40 * time.Second
	DefaultFull  = 5 * time.Minute
)

// LostError is the error of a study without a contender that it needs: the baseline, the control or
// the null contender was lost.
type LostError struct {
	Contender string
	Why       string // one line
}

// Error returns one line.
func (e *LostError) Error() string {
	return fmt.Sprintf("lost %s, which every comparison needs: %s", e.Contender, e.Why)
}

// Budget returns how long to measure a study with budget b by default, the pilot included. The
// fewest rounds that allow a verdict can take longer.
func Budget(b tare.Budget, quick bool) time.Duration {
	of, or := b.Full, DefaultFull
	if quick {
		of, or = b.Quick, DefaultQuick
	}
	if of == 0 {
		return or
	}
	return of
}

// ExpectError is the error of a check that missed a trap although it had all the evidence that it
// needs.
type ExpectError struct {
	Missed []string // one line each
}

// Error returns the first that was missed, and how many more there are.
func (e *ExpectError) Error() string {
	s := e.Missed[0]
	if n := len(e.Missed) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// StudyError is the error of a study that requests something invalid.
type StudyError struct {
	Study string
	Err   error
}

// Error names the study and what is wrong with it.
func (e *StudyError) Error() string { return fmt.Sprintf("study %s: %v", e.Study, e.Err) }

// Unwrap returns what is wrong.
func (e *StudyError) Unwrap() error { return e.Err }

// run is the state of a study during its measurement.
type run struct {
	o     Options
	kind  Kind
	name  string // of the kind
	study tare.Study

	contenders   []tare.Contender         // in plan order
	programs     map[string]build.Program // by contender id
	builtFor     map[string][]string      // by contender id: what its command's environment needs to find what was built for it
	inputs       map[string]wire.Workload // by workload id
	probes       []wire.Workload
	profiles     []tare.Profile
	omitted      []tare.NotWeighed
	unfit        []tare.NotWeighed // of them, what the budget has no time for
	allWorkloads []tare.Workload   // before any was omitted for lack of time

	failedPilot map[string]bool // workloads that were to be brought back and gave no result
	planPace    float64         // of the plan: duration of a round over its forecast by the pilots; zero means 1
	plannedAt   int             // rounds that were done when the plan was made

	log      *journal.Log // of an earlier run, or empty
	out      *journal.Writer
	plan     tare.Plan
	pilots   []tare.Pilot
	exams    journal.Exams
	conform  []tare.Conformance
	dropped  map[string]bool // contenders that are not opened any more
	rounds   []tare.Round
	slices   []tare.Slice
	trials   []tare.Trial
	started  time.Time
	before   time.Duration // of the budget, by the run that is resumed or by the caller
	outside  time.Duration // of what the budget does not pay for
	stopped  string
	longDone int
}

// Run measures study. It returns the result together with an *ExpectError, and with
// context.Canceled if the run was cut off after at least one round. With any other error there is
// no result.
func Run(ctx context.Context, study tare.Study, o Options) (*tare.Result, error) {
	r, err := newRun(study, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.inputDir()) // can be made again: only their checksums are saved
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
	if r.o.User && r.o.Rounds == 0 {
		if err := CheckBudget(r.study, r.o.Budget); err != nil {
			return nil, err
		}
	}
	if err := r.openJournal(); err != nil {
		return nil, err
	}
	defer r.out.Close()
	r.started, r.before = r.o.Now(), r.o.Spent
	if err := r.makePlan(ctx); err != nil {
		return nil, err
	}
	if err := r.measureRounds(ctx); err != nil && ctx.Err() == nil {
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
		if err := r.out.Append(journal.Entry{Done: &journal.Done{Stopped: r.stopped, Seconds: res.Seconds}}); err != nil {
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

// newRun checks the options, fills in defaults and writes the inputs.
func newRun(study tare.Study, o Options) (*run, error) {
	if err := study.Validate(); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	kind, ok := o.Kinds[string(study.Kind)]
	if !ok {
		return nil, &StudyError{study.ID, fmt.Errorf("kind: unknown kind %q; known: %s", study.Kind, joinKeys(o.Kinds))}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the run's directory: %w", err)
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
	r := &run{
		o: o, kind: kind, name: string(study.Kind), study: study,
		programs: map[string]build.Program{},
		builtFor: map[string][]string{},
		inputs:   map[string]wire.Workload{},
		dropped:  map[string]bool{},
		log:      &journal.Log{},
	}
	if r.study, r.omitted, err = Part(study, r.isReduced(), o.Only); err != nil {
		return nil, &StudyError{study.ID, err}
	}
	if err := atomicfile.MakeDir(r.inputDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make the run's directory: %w", err)
	}
	if err := r.writeInputs(study); err != nil {
		return nil, err
	}
	if p, ok := kind.(Prober); ok {
		var works []wire.Workload
		for _, w := range r.study.Workloads {
			works = append(works, r.inputs[w.ID])
		}
		if r.probes, err = p.Probes(r.inputDir(), works); err != nil {
			return nil, &StudyError{study.ID, err}
		}
	}
	for i := range r.study.Workloads {
		w := &r.study.Workloads[i]
		w.SHA256, w.Pool = r.inputs[w.ID].SHA256, r.inputs[w.ID].Bodies
		if d, ok := kind.(Describer); ok {
			described, err := d.Describe(*w, r.inputs[w.ID])
			if err != nil {
				return nil, &StudyError{study.ID, err}
			}
			*w = described
		}
	}
	r.allWorkloads = r.study.Workloads
	return r, nil
}

// isReduced reports whether only parts that a claim, a criterion or an expectation needs are
// measured: at quick, and at a budget set by the user that is less than half of the full one.
func (r *run) isReduced() bool {
	return r.o.Quick || r.o.User && r.o.Rounds == 0 && r.o.Budget < Budget(r.study.Budget, false)/2
}

// openJournal starts the journal, or continues the existing one.
func (r *run) openJournal() error {
	path := filepath.Join(r.o.Dir, journal.FileName)
	print := r.studyFingerprint()
	if !r.o.Resume {
		out, err := journal.Create(path, journal.Head{
			Study: r.study.ID, Fingerprint: print, Options: r.statedOptions(),
			Started: r.o.Now().UTC().Format(time.RFC3339),
		})
		r.out = out
		return err
	}
	log, out, err := journal.Resume(path)
	if errors.As(err, new(*fs.PathError)) { // what is in it is not known
		return err
	}
	if err != nil {
		return &ResumeError{Path: path, Why: oneLine(err.Error())}
	}
	if why := whyMismatch(log.Head, print, r.statedOptions()); why != "" {
		out.Close()
		return &ResumeError{Path: path, Why: why}
	}
	r.log, r.out = log, out
	return nil
}

// makePlan gets the plan from the journal, or from a pilot.
func (r *run) makePlan(ctx context.Context) error {
	if r.log.Plan != nil {
		r.plan, r.pilots, r.conform = *r.log.Plan, r.log.Pilots, r.log.Conformance
		r.rounds, r.slices, r.trials = r.log.Rounds, r.log.Slices, r.log.Trials
		if r.log.Exams != nil {
			r.exams = *r.log.Exams
		}
		r.dropAsPlanned()
		r.before = time.Duration(r.plan.PilotSeconds * float64(time.Second))
		for _, rd := range r.rounds {
			r.before += time.Duration(rd.Seconds * float64(time.Second))
			if rd.Tau > 1 {
				r.longDone++
			}
		}
		for _, c := range r.contenders {
			if check.GivenUp(r.trials, c.ID, r.plan.RoundsPlanned) != "" {
				r.dropped[c.ID] = true
			}
		}
		r.dropWrong()
		if err := r.countLook(); err != nil {
			return err
		}
		r.sendProgress(Event{Phase: "plan", Plan: &r.plan, Rounds: r.plan.RoundsPlanned, Round: len(r.rounds),
			Message: fmt.Sprintf("resumed after round %d (%d slices of a round in flight were lost)", len(r.rounds)-r.longDone, r.log.Lost)})
		return nil
	}
	if err := r.runPilots(ctx); err != nil {
		return err
	}
	if err := r.runOutsideBudget(func() error { return r.runExams(ctx) }); err != nil {
		return err
	}
	p := r.fitPilots(r.pilots, r.elapsedTime())
	r.forgetDropped()
	p.LeftOut = r.unfit
	r.omitted = append(r.omitted, r.unfit...)
	r.plan = p
	r.plan.PilotSeconds = r.elapsedTime().Seconds()
	entries := []journal.Entry{{Conformance: r.conform}, {Pilots: r.pilots}, {Exams: &r.exams}}
	for i := range r.trials { // that failed in the pilot
		entries = append(entries, journal.Entry{Trial: &r.trials[i]})
	}
	for _, e := range append(entries, journal.Entry{Plan: &r.plan}) {
		if err := r.out.Append(e); err != nil {
			return err
		}
	}
	r.sendProgress(Event{Phase: "plan", Plan: &r.plan, Rounds: p.RoundsPlanned, Left: r.remainingBudget()})
	return nil
}

// elapsedTime returns how long the study has measured, including an earlier run.
func (r *run) elapsedTime() time.Duration {
	if r.started.IsZero() {
		return 0
	}
	return r.before + r.o.Now().Sub(r.started) - r.outside
}

// runOutsideBudget runs do without counting its time in the budget: like a build it is done once for
// a program, and not again in the next run.
func (r *run) runOutsideBudget(do func() error) error {
	began := r.o.Now()
	defer func() { r.outside += r.o.Now().Sub(began) }()
	return do()
}

// remainingBudget returns the rest of the budget.
func (r *run) remainingBudget() time.Duration { return max(0, r.o.Budget-r.elapsedTime()) }

func (r *run) sendProgress(e Event) {
	if r.o.Progress != nil {
		r.o.Progress(e)
	}
}

// machineFacts returns the facts of the machine of the run.
func (r *run) machineFacts(ctx context.Context) tare.Machine {
	if r.o.Machine != nil {
		return *r.o.Machine
	}
	m := machine.Facts(ctx)
	m.Unlocked = r.o.Unlocked
	return m
}

// averageNoise returns the machine's noise over all rounds, including those of an earlier run,
// weighted by their length.
func (r *run) averageNoise() tare.Noise {
	if r.o.Machine != nil {
		return r.o.Machine.Noise
	}
	over := func(of func(tare.Noise) float64) float64 {
		var sum, seconds float64
		for _, rd := range r.rounds {
			if share := of(rd.Noise); share >= 0 {
				sum += share * rd.Seconds
				seconds += rd.Seconds
			}
		}
		if seconds == 0 {
			return -1
		}
		return sum / seconds
	}
	return tare.Noise{
		CPUPressure:  over(func(n tare.Noise) float64 { return n.CPUPressure }),
		RunQueueWait: runQueueShare(r.trials),
		Throttled:    over(func(n tare.Noise) float64 { return n.Throttled }),
	}
}

// startGauge starts to watch the machine and returns the function that reads its noise.
func (r *run) startGauge() func(trials []tare.Trial) tare.Noise {
	if r.o.Machine != nil {
		return func([]tare.Trial) tare.Noise { return r.o.Machine.Noise }
	}
	g := machine.StartGauge()
	return func(trials []tare.Trial) tare.Noise {
		n := g.Stop()
		n.RunQueueWait = runQueueShare(trials)
		return n
	}
}

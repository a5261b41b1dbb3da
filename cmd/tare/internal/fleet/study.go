package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
)

// JournalName is the file in a run's directory that records which machine has which
// round.
const JournalName = "rounds.ndjson"

// journalHead is the first line of a journal.
type journalHead struct {
	Protocol string     `json:"protocol"`
	Run      string     `json:"run"`
	Machines []string   `json:"machines"` // names of agents
	Share    int        `json:"share"`    // rounds of each
	Study    StudyOrder `json:"study"`
}

// StudyRun runs a study on several machines.
type StudyRun struct {
	Hub      *Hub
	Dir      string // of the journal and the results; made if missing
	Machines []string
	Share    int // rounds of each machine
	Study    StudyOrder
	Say      func(name, line string)
	Start    map[string]func(ctx context.Context) error // starts an agent, by name of its machine; the others join
	Contents map[string]Content                         // of the order's files, by hash

	// Read parses the results in an agent's document; nil means that it is one result.
	Read func(name string, document []byte) ([]*tare.Result, error)

	disk          atomicfile.Disk // nil means atomicfile.System
	mu            sync.Mutex
	pool          *pool
	journal       *os.File
	run           string
	results       map[string]Delivered // by order
	failed        map[string]error     // last error of a machine, by name
	accepted      map[string]time.Time // when their machines accepted orders
	hopeless      map[string]bool      // machines that rejected an order or failed it
	refused       map[string]error     // why a result was rejected, by order
	unsaved       map[string]bool      // orders whose result failed to be written at first
	awaitingOrder map[string]bool      // machines that get an order next
	sendingOrder  map[string]bool      // orders being sent; tare may have to be copied to the machine first
	journalError  error                // of a write to the journal; nil if none failed
	changed       chan struct{}
	opened        time.Time

	reading sync.Mutex // serialises parsing, to bound its memory
}

// Delivered is the measurement of one machine with its result document.
type Delivered struct {
	judge.Measured
	Document []byte
}

// Run has every machine measure its share, reassigns the rounds of lost machines, and returns
// the results in the order of the machines. It continues the journal of an earlier run of the
// same study in Dir. The error names failed machines; the others measure regardless.
func (r *StudyRun) Run(ctx context.Context) ([]Delivered, error) {
	if err := r.openJournal(); err != nil {
		return nil, err
	}
	defer r.journal.Close()
	r.failed, r.accepted, r.hopeless, r.refused, r.unsaved, r.awaitingOrder, r.sendingOrder = map[string]error{}, map[string]time.Time{}, map[string]bool{}, map[string]error{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	r.changed, r.opened = make(chan struct{}, 1), time.Now()
	for name := range r.Start {
		if s := r.pool.assignmentOf(name); s != nil && s.state != delivered { // no listener is registered yet: nothing else uses the pool
			r.takeBack(s.order, name, errors.New("it ended with the coordinator that had started it"))
		}
	}
	defer r.Hub.addListener(r.run, listener{ask: r.answerPermit, file: r.answerFile, result: r.acceptOutcome})()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var began sync.WaitGroup
	defer began.Wait()
	for _, name := range r.Machines {
		r.mu.Lock()
		free := r.pool.assignmentOf(name) == nil // otherwise it has an order of the resumed run
		if free {
			r.awaitingOrder[name] = true
		}
		r.mu.Unlock()
		if free {
			began.Go(func() { r.assignTo(ctx, name) })
		}
	}
	err := r.waitForRounds(ctx)
	cancel()
	r.cancelOrders()
	return r.collectResults(), err
}

// waitForRounds returns when all rounds are in results or no machine can measure the rest.
func (r *StudyRun) waitForRounds(ctx context.Context) error {
	tick := time.NewTicker(r.Hub.o.times.retryDelay)
	defer tick.Stop()
	last, told := time.Now(), false // last time a machine was active; whether the wait was reported
	for {
		r.loseSilent()
		r.mu.Lock()
		left, active, starting, broken := r.pool.countMissing(), r.pool.isActive(), r.isStarting(), r.journalError
		again, wait := "", false
		if active || starting {
			last, told = time.Now(), false
		} else if left > 0 {
			again = r.chooseSurvivor()
			wait = r.mayReturn() && time.Since(last) < 2*r.Hub.o.times.lostAfter
		}
		r.mu.Unlock()
		if wait && again == "" && !told {
			told = true
			r.Say("fleet", fmt.Sprintf("no machine measures; waiting %v for one to come back", 2*r.Hub.o.times.lostAfter))
		}
		switch {
		case broken != nil:
			return broken
		case left == 0:
			return r.joinFailures()
		case again != "":
			r.assignTo(ctx, again)
		case !active && !starting && !wait:
			return errors.Join(r.joinFailures(), fmt.Errorf("%s of %d were not measured", format.Count(left, "round"), r.Share*len(r.Machines)))
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), r.joinFailures())
		case <-r.changed:
		case <-tick.C:
		}
	}
}

// isStarting reports whether a machine without an order is to get one. The caller holds the
// lock.
func (r *StudyRun) isStarting() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		return r.awaitingOrder[name] || r.pool.assignmentOf(name) == nil && !r.pool.hasLost(name) && r.failed[name] == nil
	})
}

// chooseSurvivor returns the machine that takes the remaining rounds if no machine is active:
// one that has returned after silence, otherwise one that has delivered. The latter repeats its
// own rounds too, because a result is of one run. It returns "" if there is none. The caller
// holds the lock.
func (r *StudyRun) chooseSurvivor() string {
	there := func(name string) bool {
		silent, err := r.Hub.silentFor(name)
		return err == nil && silent < 3*r.Hub.o.times.helloInterval && !r.hopeless[name]
	}
	for _, name := range r.Machines {
		if r.pool.assignmentOf(name) == nil && there(name) {
			return name
		}
	}
	for _, name := range r.Machines {
		if s := r.pool.assignmentOf(name); s != nil && there(name) {
			_ = r.record(event{What: "lose", Order: s.order, Why: "it measures once more, with rounds that others lost"})
			delete(r.results, s.order)
			return name
		}
	}
	return ""
}

// mayReturn reports whether a silent machine may be heard of again. The caller holds the lock.
func (r *StudyRun) mayReturn() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		silent, err := r.Hub.silentFor(name)
		return err == nil && silent < math.MaxInt64 && !r.hopeless[name]
	})
}

// assignTo starts the agent of a machine if it has none, and sends it an order.
func (r *StudyRun) assignTo(ctx context.Context, name string) {
	r.mu.Lock()
	index := slices.Index(r.Machines, name)
	order := Order{Protocol: Protocol, ID: fmt.Sprintf("%s.%d.%d", r.run, index+1, len(r.pool.assignments)+1)}
	study := r.Study
	study.Seed += uint64(index)
	study.Most, study.Share = r.Share*len(r.Machines), r.Share
	order.Study = &study
	for _, s := range r.pool.assignments {
		if s.machine == name {
			r.Hub.sendCancel(name, s.order) // it may have returned with a lost order
		}
	}
	err := r.record(event{What: "begin", Order: order.ID, Machine: name})
	delete(r.awaitingOrder, name)
	r.sendingOrder[order.ID] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sendingOrder, order.ID)
	}()
	if err == nil {
		err = r.Hub.Reach(ctx, name, r.Start[name])
	}
	if err == nil {
		err = r.Hub.sendOrder(ctx, name, order)
	}
	switch {
	case err == nil:
		r.mu.Lock()
		r.accepted[order.ID] = time.Now() // before sendingOrder is cleared
		r.mu.Unlock()
	case ctx.Err() == nil:
		r.dropMachine(order.ID, name, err)
	}
}

// dropMachine takes back an order and gives the machine no more.
func (r *StudyRun) dropMachine(order, name string, why error) {
	r.mu.Lock()
	r.hopeless[name] = true
	r.mu.Unlock()
	r.takeBack(order, name, why)
}

// loseSilent takes back the orders of machines that are silent for too long or do not know
// their order.
func (r *StudyRun) loseSilent() {
	r.mu.Lock()
	var orders []*assignment
	for _, s := range r.pool.assignments {
		if s.state == measuring || s.state == ended {
			orders = append(orders, s)
		}
	}
	r.mu.Unlock()
	patience := r.Hub.o.times.lostAfter
	for _, s := range orders {
		r.mu.Lock()
		since, given := r.accepted[s.order]
		refused, placing := r.refused[s.order], r.sendingOrder[s.order]
		r.mu.Unlock()
		if placing {
			continue // assignTo reports an order that takes too long
		}
		if !given {
			since = r.opened.Add(2 * patience) // accepted before this process began
		}
		silent, err := r.Hub.silentFor(s.machine)
		doing, said := r.Hub.currentOrder(s.machine)
		switch {
		case err != nil:
			r.takeBack(s.order, s.machine, err)
		case time.Since(since) <= patience:
		case silent > patience:
			r.takeBack(s.order, s.machine, fmt.Errorf("no word from it for %v", min(silent, time.Since(r.opened)).Round(time.Second)))
		case doing == s.order, said.Before(since): // a hello from before the order proves nothing
		case refused != nil:
			r.dropMachine(s.order, s.machine, refused)
		default:
			r.takeBack(s.order, s.machine, errors.New("it does not know of its order: it was started anew, or the order never came"))
		}
	}
}

// takeBack frees the rounds of an order and records and reports why.
func (r *StudyRun) takeBack(order, name string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.pool.findAssignment(order)
	if s == nil || s.state == lost || s.state == delivered {
		return
	}
	line := format.Line(why.Error(), format.LineLimit)
	_ = r.record(event{What: "lose", Order: order, Why: line}) // r.journalError ends the run
	var nothing *NothingError
	if r.failed[name] = errors.New(line); errors.As(why, &nothing) {
		r.failed[name] = nothing
	}
	text := line
	if n := len(s.rounds); n > 0 {
		text += "; its " + format.Count(n, "round") + " are given to others"
	}
	if r.pool.countLosses(name) >= maxLosses {
		r.hopeless[name] = true
	}
	r.Say(name, text)
	r.wakeWatch()
}

// maxLosses limits the orders that a machine may lose before it gets no more.
const maxLosses = 5

// wakeWatch wakes waitForRounds.
func (r *StudyRun) wakeWatch() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// answerPermit replies to an agent's request for a round.
func (r *StudyRun) answerPermit(name string, q permitRequest) permitReply {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.pool.findAssignment(q.Order); s == nil || s.machine != name {
		return permitReply{Gone: "no such order was given to it"}
	}
	answer, changed := r.pool.nextRound(q.Order, q.Done)
	if changed {
		r.wakeWatch()
		if r.writeLine(event{What: "ask", Order: q.Order, Done: q.Done}) != nil {
			return permitReply{Wait: true} // the run ends
		}
	}
	return answer
}

// answerFile replies to an agent's request for a part of a file.
func (r *StudyRun) answerFile(name string, q fileRequest) fileReply {
	r.mu.Lock()
	s := r.pool.findAssignment(q.Order)
	r.mu.Unlock()
	content := r.Contents[q.Hash]
	switch {
	case s == nil || s.machine != name || s.state == lost:
		return fileReply{Refused: "no such order was given to it"}
	case content == nil:
		return fileReply{Refused: "the order has no such file"}
	}
	return contentPart(content, q.N)
}

// parseResults parses the results in an agent's document.
func (r *StudyRun) parseResults(name string, document []byte) ([]*tare.Result, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.Read != nil {
		return r.Read(name, document)
	}
	return history.Parse(name, document)
}

// acceptOutcome checks and saves the outcome of an order.
func (r *StudyRun) acceptOutcome(name string, o outcome) error {
	r.mu.Lock()
	s := r.pool.findAssignment(o.Order)
	late := s != nil && s.state == lost
	r.mu.Unlock()
	if s == nil || s.machine != name {
		return errors.New("no such order was given to it")
	}
	if late && !o.Nothing {
		return errReassigned // ends the order, not the machine
	}
	if o.Nothing {
		r.dropMachine(o.Order, name, &NothingError{format.Line(o.Error, format.LineLimit)})
		return nil
	}
	if o.Error != "" {
		r.dropMachine(o.Order, name, errors.New(o.Error))
		return nil
	}
	results, err := r.parseResults("the agent's result", o.Result)
	r.mu.Lock()
	defer r.mu.Unlock()
	var res *tare.Result
	if err == nil {
		study := r.Study
		study.Seed += uint64(slices.Index(r.Machines, name))
		res, err = study.CheckResult(len(s.rounds), results)
	}
	if err != nil {
		err = fmt.Errorf("refused its result: %w", err)
		r.refused[o.Order] = err
		r.Say(name, format.Line(err.Error(), format.LineLimit))
		return err
	}
	if err := r.pool.checkResult(o.Order, res.RoundsDone); err != nil {
		return err
	}
	if err := r.saveResult(o, res.RoundsDone); err != nil {
		err = fmt.Errorf("cannot keep its result: %w", err)
		if !r.unsaved[o.Order] {
			r.unsaved[o.Order] = true
			r.Say(name, format.Line(err.Error(), format.LineLimit)+"; it sends it again")
		}
		return &busyError{err.Error()}
	}
	r.results[o.Order] = Delivered{judge.Measured{Name: name, Result: res}, o.Result}
	r.Say(name, format.Count(res.RoundsDone, "round")+" measured")
	r.wakeWatch()
	return nil
}

// saveResult writes a checked result and then its line in the journal.
func (r *StudyRun) saveResult(o outcome, rounds int) error {
	if r.journalError != nil {
		return r.journalError
	}
	var file string
	for n, err := 1, fs.ErrExist; errors.Is(err, fs.ErrExist); n++ {
		file = fmt.Sprintf("machine-%d.json", len(r.results)+n)
		if err = atomicfile.WriteNew(r.diskOrSystem(), filepath.Join(r.Dir, file), o.Result, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := r.writeLine(event{What: "deliver", Order: o.Order, Done: rounds, File: file}); err != nil {
		return err
	}
	return r.pool.markDelivered(o.Order, rounds)
}

// cancelOrders cancels all orders that still run.
func (r *StudyRun) cancelOrders() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.pool.assignments {
		if s.state == measuring || s.state == ended {
			r.Hub.sendCancel(s.machine, s.order)
		}
	}
}

// collectResults returns the results in the order of the machines.
func (r *StudyRun) collectResults() []Delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Delivered
	for _, name := range r.Machines {
		if s := r.pool.assignmentOf(name); s != nil && s.state == delivered {
			out = append(out, r.results[s.order])
		}
	}
	return out
}

// joinFailures joins the last errors of the machines without a result.
func (r *StudyRun) joinFailures() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []error
	for _, name := range r.Machines {
		if err := r.failed[name]; err != nil {
			if s := r.pool.assignmentOf(name); s == nil || s.state != delivered {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(all...)
}

// openJournal replays the journal in r.Dir, or creates one.
func (r *StudyRun) openJournal() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := atomicfile.MakeDir(r.Dir, 0o700); err != nil {
		return fmt.Errorf("make the run's directory: %w", err)
	}
	r.results = map[string]Delivered{}
	path := filepath.Join(r.Dir, JournalName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the journal: %w", err)
	}
	r.pool = newPool(r.Machines, r.Share)
	complete := bytes.LastIndexByte(text, '\n') + 1 // drop the incomplete line of a killed process
	if complete > 0 {
		if err := r.replayJournal(text[:complete]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if r.journal, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := r.journal.Truncate(int64(complete)); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if _, err := r.journal.Seek(0, 2); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := r.diskOrSystem().SyncDir(r.Dir); err != nil { // or a crash may lose the new file's name
		return fmt.Errorf("write the journal: %w", err)
	}
	if complete == 0 {
		r.run = fmt.Sprintf("%x", time.Now().UnixNano())
		return r.writeLine(journalHead{Protocol, r.run, r.Machines, r.Share, r.Study})
	}
	return nil
}

// diskOrSystem returns the disk for results: r.disk, or the system if it is nil.
func (r *StudyRun) diskOrSystem() atomicfile.Disk {
	if r.disk == nil {
		return atomicfile.System{}
	}
	return r.disk
}

// Unfinished reads the journal in dir and returns the seed of the run. ok is false if the run
// has its result, or if there is no journal with a complete first line. It returns an error if
// it cannot know: an older run must not replace one that cannot be read.
func Unfinished(dir string) (seed uint64, ok bool, err error) {
	if _, err := os.Stat(filepath.Join(dir, history.ResultName)); !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	f, err := os.Open(filepath.Join(dir, JournalName))
	if errors.Is(err, os.ErrNotExist) { // a divided run: its first part has the seed
		f, err = os.Open(filepath.Join(dir, firstPart, JournalName))
	}
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	var h journalHead
	if err := json.Unmarshal(line, &h); err != nil {
		return 0, false, fmt.Errorf("%s:1: damaged: %w", f.Name(), err)
	}
	return h.Study.Seed, true, nil
}

// replayJournal applies the complete lines of a journal.
func (r *StudyRun) replayJournal(text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxOrder)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var h journalHead
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				return fmt.Errorf("line 1: %w", err)
			}
			same, _ := json.Marshal(journalHead{Protocol, h.Run, r.Machines, r.Share, r.Study})
			if string(same) != lines.Text() {
				return errors.New("it is of another order; ask for the same machines, rounds and study, or leave --resume out")
			}
			r.run = h.Run
			continue
		}
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.pool.applyEvent(e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if s := r.pool.findAssignment(e.Order); e.What == "deliver" {
			document, err := os.ReadFile(filepath.Join(r.Dir, filepath.Base(e.File)))
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			results, err := r.parseResults(e.File, document)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			r.results[e.Order] = Delivered{judge.Measured{Name: s.machine, Result: results[0]}, document}
		} else if e.What == "lose" {
			delete(r.results, e.Order)
		}
	}
	return lines.Err()
}

// record applies an event and writes it to the journal.
func (r *StudyRun) record(e event) error {
	if err := r.pool.applyEvent(e); err != nil {
		return err
	}
	return r.writeLine(e)
}

// writeLine appends a line to the journal and syncs it before a machine gets its reply. After a
// failed write it writes nothing more: the last line may be torn.
func (r *StudyRun) writeLine(line any) error {
	if r.journalError != nil {
		return r.journalError
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.journal.Write(append(text, '\n'))
	}
	if err == nil {
		err = r.journal.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write the journal: %w", err)
		r.journalError = cmp.Or(r.journalError, err)
	}
	return err
}

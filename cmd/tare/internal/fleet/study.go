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

// JournalName is the file name of a run's journal. After a line about the run, each line is an event, such as
// a lost machine.
const JournalName = "rounds.ndjson"

type journalHead struct {
	Protocol string     `json:"protocol"`
	Run      string     `json:"run"`
	Machines []string   `json:"machines"`
	Share    int        `json:"share"`
	Study    StudyOrder `json:"study"`
}

// StudyRun measures a study, a comparison in rounds, on several machines. With two machines and Share 10, each
// measures 10 of 20 rounds. Others measure the rounds of a lost machine.
type StudyRun struct {
	Hub      *Hub
	Dir      string // made by Run
	Machines []string
	Share    int // rounds of each machine
	Study    StudyOrder
	Say      func(name, line string)                    // line about a machine or the fleet
	Start    map[string]func(ctx context.Context) error // starts agents by machine; others join
	Contents map[string]Content                         // by hash

	// Read parses an agent's document; nil means one result.
	Read func(name string, document []byte) ([]*tare.Result, error)

	disk         atomicfile.Disk // nil means atomicfile.System
	mu           sync.Mutex
	pool         *pool
	journal      *os.File
	run          string               // ids of orders begin with it and a dot
	results      map[string]Delivered // by order
	machines     map[string]*machineState
	orders       map[string]*orderState // see orderState
	journalError error                  // ends the run
	changed      chan struct{}
	opened       time.Time

	reading sync.Mutex // one result at a time, to limit memory
}

type machineState struct {
	lastError     error
	isExcluded    bool // gets no more orders
	awaitingOrder bool // will soon get its first order
}

type orderState struct {
	isSending  bool      // tare may first be copied to the machine
	acceptedAt time.Time // zero if not accepted since Run began
	rejected   error     // why the result was rejected
	isUnsaved  bool
}

// Delivered is the measurement of one machine with its result document.
type Delivered struct {
	judge.Measured
	Document []byte
}

// Run measures and returns the results in the order of the machines. It continues an unfinished run in Dir.
// The error names machines that failed.
func (r *StudyRun) Run(ctx context.Context) ([]Delivered, error) {
	if err := r.openJournal(); err != nil {
		return nil, err
	}
	defer r.journal.Close()
	r.opened = time.Now()
	// The previous coordinator started these agents, so they ended with it. No lock is needed: nothing
	// else uses the pool before addListener.
	for name := range r.Start {
		if assigned := r.pool.assignmentOf(name); assigned != nil && assigned.state != delivered {
			r.takeBack(assigned.order, name, errors.New("it ended with the coordinator that had started it"))
		}
	}
	stopListening := r.Hub.addListener(r.run, listener{permit: r.answerPermit, file: r.answerFile, result: r.acceptOutcome})
	defer stopListening()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var starts sync.WaitGroup
	defer starts.Wait()
	for _, name := range r.Machines {
		r.mu.Lock()
		isFree := r.pool.assignmentOf(name) == nil // otherwise it has an order of the resumed run
		r.machines[name].awaitingOrder = isFree
		r.mu.Unlock()
		if isFree {
			starts.Go(func() { r.assignTo(ctx, name) })
		}
	}
	err := r.waitForRounds(ctx)
	cancel()
	r.cancelOrders()
	return r.collectResults(), err
}

// waitForRounds waits until all rounds are measured, or no machine can measure the rest. It takes rounds back
// from lost machines. If no machine is active, a survivor gets them. Without a survivor, it waits 2*lostAfter
// for a machine to return.
func (r *StudyRun) waitForRounds(ctx context.Context) error {
	tick := time.NewTicker(r.Hub.options.times.retryDelay)
	defer tick.Stop()
	lastActive, isReported := time.Now(), false
	maxWait := 2 * r.Hub.options.times.lostAfter
	for {
		r.loseSilent()
		now, err := r.readProgress()
		if err != nil {
			return err
		}
		switch {
		case now.missing == 0:
			return r.joinFailures()
		case now.isActive:
			lastActive, isReported = time.Now(), false
		case now.survivor != "":
			r.assignTo(ctx, now.survivor)
		case !now.mayReturn || time.Since(lastActive) >= maxWait:
			return errors.Join(r.joinFailures(), fmt.Errorf("%s of %d were not measured", format.Count(now.missing, "round"), r.Share*len(r.Machines)))
		case !isReported:
			isReported = true
			r.Say("fleet", fmt.Sprintf("no machine measures; waiting %v for one to come back", maxWait))
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), r.joinFailures())
		case <-r.changed:
		case <-tick.C:
		}
	}
}

type progress struct {
	missing   int
	isActive  bool   // a machine measures, has to deliver, or will soon get its first order
	survivor  string // can measure the missing rounds if no machine is active
	mayReturn bool   // a silent machine may return
}

func (r *StudyRun) readProgress() (p progress, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.missing, p.isActive = r.pool.countMissing(), r.pool.isActive() || r.isStarting()
	if p.missing > 0 && !p.isActive && r.journalError == nil {
		p.survivor, p.mayReturn = r.chooseSurvivor(), r.mayReturn()
	}
	return p, r.journalError
}

// isStarting reports whether a machine has yet to get its first order. The caller has locked r.mu.
func (r *StudyRun) isStarting() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		machine := r.machines[name]
		isNew := r.pool.assignmentOf(name) == nil && r.pool.countLosses(name) == 0 && machine.lastError == nil
		return machine.awaitingOrder || isNew
	})
}

// chooseSurvivor returns a machine for the remaining rounds, or "". One that has delivered must measure its
// own again: all rounds of a result are measured together. The caller has locked r.mu.
func (r *StudyRun) chooseSurvivor() string {
	isReachable := func(name string) bool {
		silent, err := r.Hub.silentFor(name)
		return err == nil && silent < 3*r.Hub.options.times.helloInterval && !r.machines[name].isExcluded
	}
	for _, name := range r.Machines {
		if r.pool.assignmentOf(name) == nil && isReachable(name) {
			return name
		}
	}
	for _, name := range r.Machines {
		if assigned := r.pool.assignmentOf(name); assigned != nil && isReachable(name) {
			_ = r.record(event{What: eventLose, Order: assigned.order, Why: "it measures once more, with rounds that others lost"}) // r.journalError ends the run
			delete(r.results, assigned.order)
			return name
		}
	}
	return ""
}

// mayReturn reports whether a silent machine may send messages again. The caller has locked r.mu.
func (r *StudyRun) mayReturn() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		silent, err := r.Hub.silentFor(name)
		return err == nil && silent < math.MaxInt64 && !r.machines[name].isExcluded
	})
}

// assignTo gives a machine a new order, and starts its agent if necessary. After a failure the machine gets no
// more orders.
func (r *StudyRun) assignTo(ctx context.Context, name string) {
	r.mu.Lock()
	index := slices.Index(r.Machines, name)
	id := fmt.Sprintf("%s.%d.%d", r.run, index+1, len(r.pool.assignments)+1) // numbers of the machine and the order
	order := Order{Protocol: Protocol, ID: id}
	study := r.Study
	study.Seed += uint64(index) // a different seed for each machine
	study.Most, study.Share = r.Share*len(r.Machines), r.Share
	order.Study = &study
	for _, assigned := range r.pool.assignments {
		if assigned.machine == name {
			r.Hub.sendCancel(name, assigned.order) // the machine may still run an order that was taken back
		}
	}
	err := r.record(event{What: eventBegin, Order: order.ID, Machine: name})
	state := r.stateOf(order.ID)
	state.isSending = true
	r.machines[name].awaitingOrder = false
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		state.isSending = false
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
		state.acceptedAt = time.Now() // set before isSending is cleared, because loseSilent checks that first
		r.mu.Unlock()
	case ctx.Err() == nil:
		r.dropMachine(order.ID, name, err)
	}
}

func (r *StudyRun) dropMachine(order, name string, why error) {
	r.mu.Lock()
	r.machines[name].isExcluded = true
	r.mu.Unlock()
	r.takeBack(order, name, why)
}

func (r *StudyRun) loseSilent() {
	r.mu.Lock()
	var orders []*assignment
	for _, assigned := range r.pool.assignments {
		if assigned.state == measuring || assigned.state == ended {
			orders = append(orders, assigned)
		}
	}
	r.mu.Unlock()
	for _, assigned := range orders {
		switch why, isRejected := r.whyLost(assigned.order, assigned.machine); {
		case isRejected:
			r.dropMachine(assigned.order, assigned.machine, why)
		case why != nil:
			r.takeBack(assigned.order, assigned.machine, why)
		}
	}
}

// whyLost returns why a machine will not deliver, or nil. isRejected is about its result.
func (r *StudyRun) whyLost(order, name string) (why error, isRejected bool) {
	r.mu.Lock()
	state := *r.stateOf(order)
	r.mu.Unlock()
	if state.isSending {
		return nil, false // assignTo reports an order that takes too long
	}
	lostAfter := r.Hub.options.times.lostAfter
	since := state.acceptedAt
	if since.IsZero() { // accepted before this process began: the agent has more time to join again
		since = r.opened.Add(2 * lostAfter)
	}
	silent, err := r.Hub.silentFor(name)
	currentOrder, helloAt := r.Hub.currentOrder(name) // last message that it is alive
	switch {
	case err != nil:
		return err, false
	case time.Since(since) <= lostAfter: // too early to judge
		return nil, false
	case silent > lostAfter:
		return fmt.Errorf("no word from it for %v", min(silent, time.Since(r.opened)).Round(time.Second)), false
	case currentOrder == order: // the machine runs its order
		return nil, false
	case helloAt.Before(since): // the message is older than the order
		return nil, false
	case state.rejected != nil:
		return state.rejected, true
	}
	return errors.New("it does not know of its order: it was started again, or the order never came"), false
}

// takeBack frees the rounds of an order and reports why.
func (r *StudyRun) takeBack(order, name string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	assigned := r.pool.findAssignment(order)
	if assigned == nil || assigned.state == lost || assigned.state == delivered {
		return
	}
	line := format.Line(why.Error(), format.LineLimit)
	_ = r.record(event{What: eventLose, Order: order, Why: line}) // r.journalError ends the run
	machine := r.machines[name]
	machine.lastError = errors.New(line)
	if nothing := (*NothingError)(nil); errors.As(why, &nothing) {
		machine.lastError = nothing
	}
	text := line
	if n := len(assigned.rounds); n > 0 {
		text += "; its " + format.Count(n, "round") + " are given to others"
	}
	if r.pool.countLosses(name) >= maxLosses {
		machine.isExcluded = true
	}
	r.Say(name, text)
	r.wakeWatch()
}

// maxLosses is the number of lost orders after which a machine gets no more.
const maxLosses = 5

func (r *StudyRun) wakeWatch() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *StudyRun) answerPermit(name string, req permitRequest) permitReply {
	r.mu.Lock()
	defer r.mu.Unlock()
	if assigned := r.pool.findAssignment(req.Order); assigned == nil || assigned.machine != name {
		return permitReply{Gone: "no such order was given to it"}
	}
	reply, changed := r.pool.nextRound(req.Order, req.Done)
	if changed {
		r.wakeWatch()
		if r.writeLine(event{What: eventAsk, Order: req.Order, Done: req.Done}) != nil {
			return permitReply{Wait: true} // the error ends the run
		}
	}
	return reply
}

func (r *StudyRun) answerFile(name string, req fileRequest) fileReply {
	r.mu.Lock()
	assigned := r.pool.findAssignment(req.Order)
	r.mu.Unlock()
	content := r.Contents[req.Hash]
	switch {
	case assigned == nil || assigned.machine != name || assigned.state == lost:
		return fileReply{Refused: "no such order was given to it"}
	case content == nil:
		return fileReply{Refused: "the order has no such file"}
	}
	return contentPart(content, req.N)
}

// parseResults parses an agent's document, which is called name in errors.
func (r *StudyRun) parseResults(name string, document []byte) ([]*tare.Result, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.Read != nil {
		return r.Read(name, document)
	}
	return history.Parse(name, document)
}

// acceptOutcome saves a result. The agent gets the error, and tries again after a busyError.
func (r *StudyRun) acceptOutcome(name string, o outcome) error {
	r.mu.Lock()
	assigned := r.pool.findAssignment(o.Order)
	isLost := assigned != nil && assigned.state == lost
	r.mu.Unlock()
	if assigned == nil || assigned.machine != name {
		return errors.New("no such order was given to it")
	}
	switch {
	case o.Nothing:
		r.dropMachine(o.Order, name, &NothingError{format.Line(o.Error, format.LineLimit)})
		return nil
	case isLost:
		return errReassigned // the machine may get other orders
	case o.Error != "":
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
		res, err = study.CheckResult(len(assigned.rounds), results)
	}
	if err != nil {
		err = fmt.Errorf("rejected its result: %w", err)
		r.stateOf(o.Order).rejected = err
		r.Say(name, format.Line(err.Error(), format.LineLimit))
		return err
	}
	if err := r.pool.checkResult(o.Order, res.RoundsDone); err != nil {
		return err
	}
	if err := r.saveResult(o, res.RoundsDone); err != nil {
		err = fmt.Errorf("cannot keep its result: %w", err)
		if state := r.stateOf(o.Order); !state.isUnsaved {
			state.isUnsaved = true
			r.Say(name, format.Line(err.Error(), format.LineLimit)+"; it sends it again")
		}
		return &busyError{err.Error()}
	}
	r.results[o.Order] = Delivered{Measured: judge.Measured{Name: name, Result: res}, Document: o.Result}
	r.Say(name, format.Count(res.RoundsDone, "round")+" measured")
	r.wakeWatch()
	return nil
}

func (r *StudyRun) saveResult(o outcome, rounds int) error {
	if r.journalError != nil {
		return r.journalError
	}
	var file string
	for n := len(r.results) + 1; ; n++ { // the first number without a file
		file = fmt.Sprintf("machine-%d.json", n)
		err := atomicfile.WriteNew(r.diskOrSystem(), filepath.Join(r.Dir, file), o.Result, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := r.writeLine(event{What: eventDeliver, Order: o.Order, Done: rounds, File: file}); err != nil {
		return err
	}
	return r.pool.markDelivered(o.Order, rounds)
}

// stateOf returns the state of an order, which it adds if it is new. The caller has locked r.mu.
func (r *StudyRun) stateOf(id string) *orderState {
	state := r.orders[id]
	if state == nil {
		state = &orderState{}
		r.orders[id] = state
	}
	return state
}

func (r *StudyRun) cancelOrders() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, assigned := range r.pool.assignments {
		if assigned.state == measuring || assigned.state == ended {
			r.Hub.sendCancel(assigned.machine, assigned.order)
		}
	}
}

func (r *StudyRun) collectResults() []Delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Delivered
	for _, name := range r.Machines {
		if assigned := r.pool.assignmentOf(name); assigned != nil && assigned.state == delivered {
			out = append(out, r.results[assigned.order])
		}
	}
	return out
}

func (r *StudyRun) joinFailures() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []error
	for _, name := range r.Machines {
		if err := r.machines[name].lastError; err != nil {
			if assigned := r.pool.assignmentOf(name); assigned == nil || assigned.state != delivered {
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
	r.results, r.orders, r.machines = map[string]Delivered{}, map[string]*orderState{}, map[string]*machineState{}
	for _, name := range r.Machines {
		r.machines[name] = &machineState{}
	}
	r.changed = make(chan struct{}, 1)
	path := filepath.Join(r.Dir, JournalName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the journal: %w", err)
	}
	r.pool = newPool(r.Machines, r.Share)
	complete := bytes.LastIndexByte(text, '\n') + 1 // a killed process may leave an incomplete line
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
	if _, err := r.journal.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := r.diskOrSystem().SyncDir(r.Dir); err != nil { // a crash may otherwise lose the file's name
		return fmt.Errorf("write the journal: %w", err)
	}
	if complete == 0 {
		r.run = fmt.Sprintf("%x", time.Now().UnixNano())
		return r.writeLine(r.newHead(r.run))
	}
	return nil
}

func (r *StudyRun) newHead(run string) journalHead {
	return journalHead{Protocol: Protocol, Run: run, Machines: r.Machines, Share: r.Share, Study: r.Study}
}

func (r *StudyRun) diskOrSystem() atomicfile.Disk {
	if r.disk == nil {
		return atomicfile.System{}
	}
	return r.disk
}

// UnfinishedSeed returns the seed of the run in dir, if it has a journal but no result. After an error the
// caller must not resume an older run.
func UnfinishedSeed(dir string) (seed uint64, ok bool, err error) {
	if _, err := os.Stat(filepath.Join(dir, history.ResultName)); !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	f, err := os.Open(filepath.Join(dir, JournalName))
	if errors.Is(err, os.ErrNotExist) { // perhaps a divided run; its first part has the seed
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
	var head journalHead
	if err := json.Unmarshal(line, &head); err != nil {
		return 0, false, fmt.Errorf("%s:1: damaged: %w", f.Name(), err)
	}
	return head.Study.Seed, true, nil
}

// replayJournal applies the events of a journal to the pool. It fails if the journal is of another study, of
// other machines or of other rounds.
func (r *StudyRun) replayJournal(text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxOrder)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var head journalHead
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
				return fmt.Errorf("line 1: %w", err)
			}
			expected, _ := json.Marshal(r.newHead(head.Run))
			if string(expected) != lines.Text() {
				return errors.New("it is of another order; ask for the same machines, rounds and study, or leave --resume out")
			}
			r.run = head.Run
			continue
		}
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.pool.applyEvent(e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		switch e.What {
		case eventDeliver:
			document, err := os.ReadFile(filepath.Join(r.Dir, filepath.Base(e.File)))
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			results, err := r.parseResults(e.File, document)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			machine := r.pool.findAssignment(e.Order).machine
			r.results[e.Order] = Delivered{Measured: judge.Measured{Name: machine, Result: results[0]}, Document: document}
		case eventLose:
			delete(r.results, e.Order)
		}
	}
	return lines.Err()
}

// record applies an event to the pool and writes it to the journal. The caller has locked r.mu.
func (r *StudyRun) record(e event) error {
	if err := r.pool.applyEvent(e); err != nil {
		return err
	}
	return r.writeLine(e)
}

// writeLine appends a line to the journal. It waits until the line is on the disk, so that no machine gets a
// reply about an unrecorded event. After an error the last line may be incomplete, so every later call fails.
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

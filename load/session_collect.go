package load

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// collector adds up the records of all threads in a phase. It makes a Second of each second that is over
// for all threads. Methods named …Locked require that the caller has locked mu.
type collector struct {
	r *run

	mu        sync.Mutex
	total     requestStats
	current   []int           // current second of each thread
	next      int             // first second that is not in timeline yet
	seconds   map[int]*second // seconds that some thread has not finished, by number
	timeline  []Second
	ticks     chan Second   // for Leg.Tick; nil if Leg.Tick is nil
	ticksDone chan struct{} // closed after the last call of Leg.Tick

	area          float64 // requests in flight, integrated over time; see inFlightArea
	connects      *hist.Hist
	handshakes    *hist.Hist
	totals        Totals
	resumed       int64
	reopened      int64
	connectErrors int64
	resent        int64
	blocks        []Block
	steps         []stepStats
}

// second is the sum of the threads' records of one second.
type second struct {
	requests int64
	errors   [classCount]int64
	latency  hist.Hist
}

// binsPerDoubling is the resolution of the latencies of a second: 4 bins between a latency and twice it.
const binsPerDoubling = 4

// summarize returns the Second of a second that is over. s may be nil.
func (s *second) summarize(at time.Duration) Second {
	out := Second{At: at}
	if s == nil {
		return out
	}
	out.Requests, out.Classes = s.requests, errorsByClass(s.errors)
	for _, n := range s.errors {
		out.Errors += n
	}
	quantile := func(share float64) time.Duration { return time.Duration(s.latency.Quantile(share)) }
	out.P50, out.P99, out.Max, out.Bins = quantile(0.5), quantile(0.99), quantile(1), s.latency.Bins(binsPerDoubling)
	return out
}

func errorsByClass(errors [classCount]int64) map[Class]int64 {
	var out map[Class]int64
	for class, n := range errors {
		if n > 0 && out == nil {
			out = map[Class]int64{}
		}
		if n > 0 {
			out[Classes()[class]] = n
		}
	}
	return out
}

func newCollector(r *run, threads int) *collector {
	c := &collector{
		r: r, current: make([]int, threads), seconds: map[int]*second{},
		connects: new(hist.Hist), handshakes: new(hist.Hist), blocks: newBlocks(r.leg), steps: newSteps(r.leg),
	}
	if r.leg.Tick != nil {
		c.ticks, c.ticksDone = make(chan Second, 64), make(chan struct{})
		go func() {
			defer close(c.ticksDone)
			for s := range c.ticks {
				r.leg.Tick(Tick{Second: s, SoFar: c.resultSoFar(s.At + time.Second)})
			}
		}()
	}
	return c
}

func (c *collector) addSecond(m *recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(&m.current)
	c.area += m.inFlight.area
	m.inFlight.area = 0
}

func (c *collector) addLocked(s *requestStats) {
	c.total.addStats(s)
	if !c.isComplete(s.second) {
		return // the timeline has only complete seconds
	}
	sec := c.seconds[s.second]
	if sec == nil {
		sec = new(second)
		c.seconds[s.second] = sec
	}
	sec.requests += s.requests
	for class, n := range s.errors {
		sec.errors[class] += n
	}
	if c.r.queue != nil {
		sec.latency.Merge(&s.latency)
		return
	}
	sec.latency.Merge(&s.singlePart)
	sec.latency.Merge(&s.multiPart)
}

func (c *collector) isComplete(second int) bool {
	begin, end := c.r.begin.Load(), c.r.end.Load()
	return begin != 0 && (end == 0 || begin+int64(second+1)*int64(time.Second) <= end)
}

// advanceTo records that a thread has reached a second. Seconds that all threads have finished go to the
// timeline and to Leg.Tick.
func (c *collector) advanceTo(thread, second int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanceToLocked(thread, second)
}

func (c *collector) advanceToLocked(thread, second int) {
	c.current[thread] = second
	for _, s := range c.current {
		second = min(second, s)
	}
	for ; c.next < second && c.isComplete(c.next); c.next++ {
		line := c.seconds[c.next].summarize(time.Duration(c.next) * time.Second)
		delete(c.seconds, c.next)
		c.timeline = append(c.timeline, line)
		if c.ticks == nil {
			continue
		}
		select {
		case c.ticks <- line:
		default: // Leg.Tick is a minute late: skip this second
		}
	}
}

func (c *collector) addRest(m *recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.secondEnd != 0 {
		c.addLocked(&m.current)
	}
	c.area += m.inFlight.area
	c.connects.Merge(&m.connects)
	c.handshakes.Merge(&m.handshakes)
	c.resumed += m.resumed
	c.totals = c.totals.addTotals(m.totals)
	c.reopened += m.reopened
	c.connectErrors += m.connectErrors
	c.resent += m.resent
	for i, b := range m.blocks {
		c.blocks[i].addBlock(b)
	}
	for i := range m.steps {
		c.steps[i].addStats(&m.steps[i])
	}
	c.advanceToLocked(m.thread, math.MaxInt)
}

// resultSoFar returns the result of a running phase. wall is the time since measuring began.
func (c *collector) resultSoFar(wall time.Duration) *Result {
	r := c.r
	r.mu.Lock()
	used, first := r.engine.readUsage(), r.first
	r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	errors := c.total.errors
	errors[classConnect] += c.connectErrors
	out := c.newResult(wall, used, errors)
	out.FirstError = first
	if r.queue != nil {
		out.Asked, out.Late = r.queue.rateSoFar(wall)
	}
	return out
}

// newResult returns the collected values as a result. used is the usage at its end. The caller must lock
// c.mu while threads run.
func (c *collector) newResult(wall time.Duration, used usage, errors [classCount]int64) *Result {
	r, t := c.r, &c.total
	out := &Result{
		Engine: r.engine.name(), Connections: r.s.Connections, Streams: r.s.Streams, Threads: r.engine.threadCount(),
		Wall:     wall,
		Sent:     t.requests + t.lost,
		Requests: t.requests, Unasked: t.unsolicited,
		Statuses: map[int]int64{}, Codes: map[int]int64{}, Errors: map[Class]int64{},
		Opened: c.totals.Opened, Reconnects: c.reopened, Resent: c.resent,
		Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), SendLag: new(hist.Hist), Connect: new(hist.Hist),
		Handshake: new(hist.Hist), Resumed: c.resumed,
		BytesIn: t.bytesIn, BytesOut: t.bytesOut, BodyIn: t.bodyIn, BodyOut: t.bodyOut,
		CPU: used.cpu - r.used[0].cpu, Wait: -1, Timeline: slices.Clip(c.timeline),
	}
	if r.used[0].wait >= 0 && used.wait >= 0 {
		out.Wait = used.wait - r.used[0].wait
	}
	for code, n := range t.statuses {
		if n > 0 {
			out.Statuses[code] = n
		}
	}
	for code, n := range t.codes {
		if n > 0 {
			out.Codes[code] = n
		}
	}
	maps.Copy(out.Errors, errorsByClass(errors))
	out.Service.Merge(&t.singlePart)
	out.FirstByte.Merge(&t.singlePart)
	out.Service.Merge(&t.multiPart)
	out.FirstByte.Merge(&t.firstByte)
	out.SendLag.Merge(&t.lag)
	out.Connect.Merge(c.connects) // copies: threads still add to them during a phase
	out.Handshake.Merge(c.handshakes)
	if wall > 0 {
		out.Concurrency = c.area / float64(wall)
	}
	if r.queue == nil {
		out.Latency.Merge(out.Service)
	} else {
		out.Latency.Merge(&t.latency)
	}
	return out
}

func (r *run) buildResult() *Result {
	c := r.collector
	if c.ticks != nil {
		close(c.ticks)
		<-c.ticksDone
	}
	c.total.errors[classConnect] += c.connectErrors
	out := c.newResult(r.measuredTime(), r.used[1], c.total.errors)
	out.FirstError, out.Blocks, out.Steps = r.first, c.blocks, c.newStepResults()
	if r.queue != nil && out.Wall > 0 {
		var asked int64
		asked, out.Late = r.queue.countUnsent(r.end.Load())
		out.Asked = float64(asked) / out.Wall.Seconds()
	}
	return out
}

func (r *run) measuredTime() time.Duration {
	begin := r.begin.Load()
	if begin == 0 {
		return 0
	}
	return time.Duration(max(0, r.end.Load()-begin))
}

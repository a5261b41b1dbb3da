package load

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// exchange is what is known of a request under way.
type exchange struct {
	index    int   // in Options.Requests
	measured bool  // open loop
	intended int64 // open loop: ns
	sent     int64 // ns: the first time
	first    int64 // ns, first byte of the answer; 0: none yet
	pieces   int   // in which the answer came
	out      int   // bytes sent
	in       int64 // bytes received

	tries   int     // times it was sent
	keep    bool    // its answer is to be verified
	numbers []int64 // that were drawn for it
}

// slab holds what came of the measured requests of one thread in one second,
// or of all threads in all seconds.
type slab struct {
	second   int // since measuring began
	requests int64
	lost     int64 // requests without a whole answer
	errors   [classes]int64
	unasked  int64
	bytesIn  int64
	bytesOut int64
	bodyIn   int64
	bodyOut  int64
	statuses [1000]int64
	codes    [codes]int64

	whole     hist.Hist // ns from sending to an answer that came in one piece
	parts     hist.Hist // the same of those that came in several, and of timeouts
	firstByte hist.Hist // of the latter, to the first piece
	latency   hist.Hist // open loop: from the intended time
	lag       hist.Hist // open loop
}

func (s *slab) add(o *slab) {
	s.requests += o.requests
	s.lost += o.lost
	for i, n := range o.errors {
		s.errors[i] += n
	}
	s.unasked += o.unasked
	s.bytesIn += o.bytesIn
	s.bytesOut += o.bytesOut
	s.bodyIn += o.bodyIn
	s.bodyOut += o.bodyOut
	for i, n := range o.statuses {
		s.statuses[i] += n
	}
	for i, n := range o.codes {
		s.codes[i] += n
	}
	s.whole.Merge(&o.whole)
	s.parts.Merge(&o.parts)
	s.firstByte.Merge(&o.firstByte)
	s.latency.Merge(&o.latency)
	s.lag.Merge(&o.lag)
}

func (s *slab) reset() {
	for _, h := range []*hist.Hist{&s.whole, &s.parts, &s.firstByte, &s.latency, &s.lag} {
		h.Reset()
	}
	s.second, s.requests, s.lost, s.unasked = 0, 0, 0, 0
	s.bytesIn, s.bytesOut, s.bodyIn, s.bodyOut = 0, 0, 0, 0
	s.errors, s.statuses, s.codes = [classes]int64{}, [1000]int64{}, [codes]int64{}
}

// Classes by number, in the order of Classes.
const (
	ofConnect = iota
	ofReset
	ofTimeout
	ofFraming
	ofStatus
	ofAnswer
	classes
)

// recorder keeps one thread's account of a leg. It never looks at the clock.
type recorder struct {
	thread int // its number
	s      *settings
	r      *run
	cur    slab       // of the second under way
	blocks []Block    // of the leg; nil: no intervals are wanted
	steps  []stepping // of its profile; nil: there are none
	until  int64      // when that is over; 0: nothing has been measured
	level  level
	all    Totals
	conns  hist.Hist // ns to make a connection
	shakes hist.Hist // ns of handshakes

	resumed  int64 // handshakes
	reopened int64
	refused  int64 // connections that could not be made
	resent   int64
	checked  int // answers until the next that is verified
}

// level integrates the number of requests under way over the measured time.
type level struct {
	n    int64
	last int64   // ns of the last change
	area float64 // requests × ns
}

// change brings the account up to now and then to n+d requests. Where several
// goroutines share it, a change may be told after a later one: then what was
// counted since is put right.
func (l *level) change(now, begin, end, d int64) {
	if begin != 0 {
		l.area += float64(l.n) * float64(overlap(l.last, now, begin, end))
		l.area += float64(d) * float64(overlap(now, l.last, begin, end))
	}
	l.last = max(l.last, now)
	l.n += d
}

// overlap is how much of the time from one instant to another lies between
// begin and end; 0 is no end yet.
func overlap(from, to, begin, end int64) int64 {
	if from = max(from, begin); end != 0 {
		to = min(to, end)
	}
	return max(0, to-from)
}

func (m *recorder) start(r *run) {
	m.r, m.until = r, 0
	m.level = level{last: r.s.now()}
	m.cur.reset()
	m.blocks, m.steps = newBlocks(r.leg), newSteps(r.leg)
	m.conns.Reset()
	m.shakes.Reset()
	m.all, m.resumed, m.reopened, m.refused, m.resent = Totals{}, 0, 0, 0, 0
}

// stop hands over what there is when the thread is done with the leg.
func (m *recorder) stop() {
	begin, end := m.r.measures()
	m.level.change(end, begin, end, 0)
	m.r.collector.last(m)
	m.r = nil
}

// sending is said right before a request is sent. One that is sent again has been
// under way all the time.
func (m *recorder) sending(q *exchange, now int64) {
	if q.tries++; q.tries > 1 {
		m.resent++
		return
	}
	begin, end := m.r.measures()
	m.level.change(now, begin, end, 1)
	m.all.Sent++
	m.all.Body += int64(m.s.requests[q.index].body)
}

// over counts an outcome and returns where to record it; nil: nowhere.
func (m *recorder) over(q *exchange, now int64, failed bool) *slab {
	begin, end := m.r.measures()
	m.level.change(now, begin, end, -1)
	measured := q.measured
	if m.r.queue == nil {
		measured = m.r.outcome(now, failed)
	}
	if !measured {
		return nil
	}
	s := m.at(now)
	s.bytesOut += int64(q.out)
	s.bytesIn += q.in
	s.bodyOut += int64(m.s.requests[q.index].body)
	if m.r.queue != nil {
		s.lag.Record(q.sent - q.intended)
	}
	return s
}

// answered records a whole answer at the time it was whole. What it
// acknowledges counts whether it is measured or not.
func (m *recorder) answered(q *exchange, a answer, now int64) {
	m.all.BodyIn += a.body
	s := m.over(q, now, false)
	asked := &m.s.requests[q.index]
	accepted := m.s.accepts[a.status]
	if asked.status != 0 {
		accepted = a.status == asked.status
	}
	var wrong error
	if a.keep && m.s.Verify != nil {
		wrong = m.s.Verify(q.index, a.status, a.kept)
	}
	if accepted && wrong == nil {
		m.all.Acked += asked.items
	}
	if s == nil {
		return
	}
	s.requests++
	s.statuses[a.status]++
	if a.rpc {
		s.codes[knownCode(a.code)]++
	}
	s.bodyIn += a.body
	b, latency := m.block(now), now-q.sent
	b.ended()
	if q.pieces > 1 {
		s.parts.Record(now - q.sent)
		s.firstByte.Record(q.first - q.sent)
	} else {
		s.whole.Record(now - q.sent)
	}
	if m.r.queue != nil {
		latency = now - q.intended
		s.latency.Record(latency)
	}
	b.lasted(m.r.leg.Hold, latency)
	step, part := m.step(q)
	step.ended(true)
	step.lasted(latency)
	part.ended()
	part.lasted(m.r.leg.Hold, latency)
	if !accepted {
		s.errors[ofStatus]++
		b.failed()
		step.failed(ofStatus)
		part.failed()
		if !m.r.complained.Load() {
			m.r.complain(ErrStatus, statusError(a, asked.status))
		}
	}
	if wrong != nil {
		s.errors[ofAnswer]++
		b.failed()
		step.failed(ofAnswer)
		part.failed()
		m.r.complain(ErrAnswer, wrong)
	}
}

// statusError says what was answered, and where that is known what should
// have been.
func statusError(a answer, want int) error {
	got := strconv.Itoa(a.status)
	if a.rpc {
		got = fmt.Sprintf("grpc-status %d (%s)", a.code, CodeName(a.code))
	}
	if want == 0 {
		return errors.New(got)
	}
	return fmt.Errorf("%s instead of %d", got, want)
}

// failed records a request that will have no whole answer. A timeout enters
// the latencies at the timeout, or at what has passed since then.
func (m *recorder) failed(q *exchange, class int, err error, now int64) {
	m.r.complain(Classes()[class], err)
	s := m.over(q, now, true)
	if s == nil {
		return
	}
	s.lost++
	s.errors[class]++
	b := m.block(now)
	b.ended()
	b.failed()
	step, part := m.step(q)
	step.ended(false)
	step.failed(class)
	part.ended()
	part.failed()
	if class != ofTimeout {
		return
	}
	least := int64(m.s.Timeout)
	latency := max(least, now-q.sent)
	s.parts.Record(latency)
	if q.first != 0 {
		s.firstByte.Record(q.first - q.sent)
	}
	if m.r.queue != nil {
		latency = max(least, now-q.intended)
		s.latency.Record(latency)
	}
	b.lasted(m.r.leg.Hold, latency)
	step.lasted(latency)
	part.lasted(m.r.leg.Hold, latency)
}

// unasked records bytes that came although no request was under way.
func (m *recorder) unasked(now int64) {
	m.r.complain(ErrFraming, errUnasked)
	if m.r.begin.Load() == 0 || m.r.end.Load() != 0 {
		return
	}
	s := m.at(now)
	s.errors[ofFraming]++
	s.unasked++
}

// unconnected records a connection that could not be made.
func (m *recorder) unconnected(err error) {
	m.r.complain(ErrConnect, err)
	m.refused++
}

// connected records a connection; again: to replace another.
func (m *recorder) connected(took int64, again bool) {
	m.conns.Record(took)
	m.all.Opened++
	if again {
		m.reopened++
	}
}

// shook records a handshake of TLS.
func (m *recorder) shook(took int64, resumed bool) {
	m.shakes.Record(took)
	if resumed {
		m.resumed++
	}
}

// verifies reports whether the next answer is to be verified.
func (m *recorder) verifies() bool {
	if m.s.Verify == nil {
		return false
	}
	if m.checked--; m.checked < 0 {
		m.checked = m.s.Sample - 1
		return true
	}
	return false
}

// at is the slab of the second that now is in.
func (m *recorder) at(now int64) *slab {
	if now >= m.until {
		m.roll(now)
	}
	return &m.cur
}

// roll hands over the slab of a second that is over. It is called whenever
// something is recorded, and by idle threads once a second.
func (m *recorder) roll(now int64) {
	begin := m.r.begin.Load()
	if begin == 0 || now < m.until {
		return
	}
	if m.until != 0 {
		m.r.collector.add(m)
		m.cur.reset()
	}
	m.cur.second = int(max(0, now-begin) / int64(time.Second))
	m.until = begin + int64(m.cur.second+1)*int64(time.Second)
	m.r.collector.reached(m.thread, m.cur.second)
}

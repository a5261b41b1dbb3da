package load

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// exchange is the state of a request in flight.
type exchange struct {
	index    int   // in Options.Requests
	measured bool  // open loop
	intended int64 // open loop: ns
	sent     int64 // ns: the first time
	first    int64 // ns, first byte of the answer; 0: none yet
	parts    int   // parts in which the response arrived
	bytesOut int   // bytes sent
	bytesIn  int64 // bytes received

	tries   int     // times it was sent
	verify  bool    // Verify checks its response
	numbers []int64 // drawn for it
}

// legStats contains the outcomes of the measured requests of one thread in one second, or of all threads in all
// seconds.
type legStats struct {
	second   int // since measuring began
	requests int64
	lost     int64 // requests without a complete response
	errors   [classCount]int64
	unasked  int64
	bytesIn  int64
	bytesOut int64
	bodyIn   int64
	bodyOut  int64
	statuses [1000]int64
	codes    [codeCount]int64

	singlePart hist.Hist // ns from sending to a response that arrived in one part
	multiPart  hist.Hist // the same for those in several parts, and for timeouts
	firstByte  hist.Hist // of the latter, to the first part
	latency    hist.Hist // open loop: from the intended time
	lag        hist.Hist // open loop
}

func (s *legStats) addStats(o *legStats) {
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
	s.singlePart.Merge(&o.singlePart)
	s.multiPart.Merge(&o.multiPart)
	s.firstByte.Merge(&o.firstByte)
	s.latency.Merge(&o.latency)
	s.lag.Merge(&o.lag)
}

func (s *legStats) resetStats() {
	for _, h := range []*hist.Hist{&s.singlePart, &s.multiPart, &s.firstByte, &s.latency, &s.lag} {
		h.Reset()
	}
	s.second, s.requests, s.lost, s.unasked = 0, 0, 0, 0
	s.bytesIn, s.bytesOut, s.bodyIn, s.bodyOut = 0, 0, 0, 0
	s.errors, s.statuses, s.codes = [classCount]int64{}, [1000]int64{}, [codeCount]int64{}
}

// Classes by number, in the order of Classes.
const (
	ofConnect = iota
	ofReset
	ofTimeout
	ofFraming
	ofStatus
	ofAnswer
	classCount
)

// recorder records one thread's part of a phase. It never reads the clock.
type recorder struct {
	thread   int // its number
	s        *settings
	r        *run
	current  legStats    // of the current second
	blocks   []Block     // of the phase; nil if no intervals are needed
	steps    []stepStats // of its profile; nil without steps
	until    int64       // end of the current second; 0: nothing has been measured
	inFlight inFlightArea
	all      Totals
	conns    hist.Hist // ns to make a connection
	shakes   hist.Hist // ns of handshakes

	resumed  int64 // handshakes
	reopened int64
	refused  int64 // failed connection attempts
	resent   int64
	toVerify int // responses until the next that is verified
}

// inFlightArea integrates the number of requests in flight over the measured time.
type inFlightArea struct {
	n    int64
	last int64   // ns of the last change
	area float64 // requests × ns
}

// change integrates up to now and then adds d requests. If several goroutines share it, changes can arrive out
// of order; then the area since now is corrected.
func (l *inFlightArea) change(now, begin, end, d int64) {
	if begin != 0 {
		l.area += float64(l.n) * float64(overlapTime(l.last, now, begin, end))
		l.area += float64(d) * float64(overlapTime(now, l.last, begin, end))
	}
	l.last = max(l.last, now)
	l.n += d
}

// overlapTime returns how much of [from, to] lies between begin and end; end 0 means unlimited.
func overlapTime(from, to, begin, end int64) int64 {
	if from = max(from, begin); end != 0 {
		to = min(to, end)
	}
	return max(0, to-from)
}

func (m *recorder) start(r *run) {
	m.r, m.until = r, 0
	m.inFlight = inFlightArea{last: r.s.nowNS()}
	m.current.resetStats()
	m.blocks, m.steps = newBlocks(r.leg), newSteps(r.leg)
	m.conns.Reset()
	m.shakes.Reset()
	m.all, m.resumed, m.reopened, m.refused, m.resent = Totals{}, 0, 0, 0, 0
}

// stop passes the rest of the records to the collector at the end of the phase.
func (m *recorder) stop() {
	begin, end := m.r.measuredSpan()
	m.inFlight.change(end, begin, end, 0)
	m.r.collector.addRest(m)
	m.r = nil
}

// recordSend is called right before a request is sent. A request that is sent again has been in flight all the
// time.
func (m *recorder) recordSend(q *exchange, now int64) {
	if q.tries++; q.tries > 1 {
		m.resent++
		return
	}
	begin, end := m.r.measuredSpan()
	m.inFlight.change(now, begin, end, 1)
	m.all.Sent++
	m.all.Body += int64(m.s.requests[q.index].body)
}

// finishRequest counts an outcome and returns where to record it, or nil if it is not measured.
func (m *recorder) finishRequest(q *exchange, now int64, failed bool) *legStats {
	begin, end := m.r.measuredSpan()
	m.inFlight.change(now, begin, end, -1)
	measured := q.measured
	if m.r.queue == nil {
		measured = m.r.countOutcome(now, failed)
	}
	if !measured {
		return nil
	}
	s := m.statsAt(now)
	s.bytesOut += int64(q.bytesOut)
	s.bytesIn += q.bytesIn
	s.bodyOut += int64(m.s.requests[q.index].body)
	if m.r.queue != nil {
		s.lag.Record(q.sent - q.intended)
	}
	return s
}

// recordResponse records a complete response at the time of its last byte. Items that it acknowledges count
// even if it is not measured.
func (m *recorder) recordResponse(q *exchange, a response, now int64) {
	m.all.BodyIn += a.body
	s := m.finishRequest(q, now, false)
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
	b, latency := m.blockAt(now), now-q.sent
	b.recordEnd()
	if q.parts > 1 {
		s.multiPart.Record(now - q.sent)
		s.firstByte.Record(q.first - q.sent)
	} else {
		s.singlePart.Record(now - q.sent)
	}
	if m.r.queue != nil {
		latency = now - q.intended
		s.latency.Record(latency)
	}
	b.recordLatency(m.r.leg.Hold, latency)
	step, part := m.stepAt(q)
	step.recordEnd(true)
	step.recordLatency(latency)
	part.recordEnd()
	part.recordLatency(m.r.leg.Hold, latency)
	if !accepted {
		s.errors[ofStatus]++
		b.recordError()
		step.recordError(ofStatus)
		part.recordError()
		if !m.r.hasFirst.Load() {
			m.r.recordFirst(ErrStatus, statusError(a, asked.status))
		}
	}
	if wrong != nil {
		s.errors[ofAnswer]++
		b.recordError()
		step.recordError(ofAnswer)
		part.recordError()
		m.r.recordFirst(ErrAnswer, wrong)
	}
}

// statusError returns the status of a response, and the expected one if it is known.
func statusError(a response, want int) error {
	got := strconv.Itoa(a.status)
	if a.rpc {
		got = fmt.Sprintf("grpc-status %d (%s)", a.code, CodeName(a.code))
	}
	if want == 0 {
		return errors.New(got)
	}
	return fmt.Errorf("%s instead of %d", got, want)
}

// recordFailure records a request without a complete response. The latency of a timeout is at least the
// timeout.
func (m *recorder) recordFailure(q *exchange, class int, err error, now int64) {
	m.r.recordFirst(Classes()[class], err)
	s := m.finishRequest(q, now, true)
	if s == nil {
		return
	}
	s.lost++
	s.errors[class]++
	b := m.blockAt(now)
	b.recordEnd()
	b.recordError()
	step, part := m.stepAt(q)
	step.recordEnd(false)
	step.recordError(class)
	part.recordEnd()
	part.recordError()
	if class != ofTimeout {
		return
	}
	least := int64(m.s.Timeout)
	latency := max(least, now-q.sent)
	s.multiPart.Record(latency)
	if q.first != 0 {
		s.firstByte.Record(q.first - q.sent)
	}
	if m.r.queue != nil {
		latency = max(least, now-q.intended)
		s.latency.Record(latency)
	}
	b.recordLatency(m.r.leg.Hold, latency)
	step.recordLatency(latency)
	part.recordLatency(m.r.leg.Hold, latency)
}

// recordUnsolicited records bytes that arrived while no request was in flight.
func (m *recorder) recordUnsolicited(now int64) {
	m.r.recordFirst(ErrFraming, errUnsolicited)
	if m.r.begin.Load() == 0 || m.r.end.Load() != 0 {
		return
	}
	s := m.statsAt(now)
	s.errors[ofFraming]++
	s.unasked++
}

// recordConnectError records a failed connection attempt.
func (m *recorder) recordConnectError(err error) {
	m.r.recordFirst(ErrConnect, err)
	m.refused++
}

// recordConnect records a connection; again means that it replaces another. took is in ns.
func (m *recorder) recordConnect(took int64, again bool) {
	m.conns.Record(took)
	m.all.Opened++
	if again {
		m.reopened++
	}
}

// recordHandshake records a handshake of TLS. took is in ns.
func (m *recorder) recordHandshake(took int64, resumed bool) {
	m.shakes.Record(took)
	if resumed {
		m.resumed++
	}
}

// takeVerify reports whether the next response is to be verified, and counts it.
func (m *recorder) takeVerify() bool {
	if m.s.Verify == nil {
		return false
	}
	if m.toVerify--; m.toVerify < 0 {
		m.toVerify = m.s.Sample - 1
		return true
	}
	return false
}

// statsAt returns the legStats of the second of now.
func (m *recorder) statsAt(now int64) *legStats {
	if now >= m.until {
		m.rollSecond(now)
	}
	return &m.current
}

// rollSecond passes the legStats of a second that is over to the collector. It is called on every record, and by
// idle threads once a second.
func (m *recorder) rollSecond(now int64) {
	begin := m.r.begin.Load()
	if begin == 0 || now < m.until {
		return
	}
	if m.until != 0 {
		m.r.collector.addSecond(m)
		m.current.resetStats()
	}
	m.current.second = int(max(0, now-begin) / int64(time.Second))
	m.until = begin + int64(m.current.second+1)*int64(time.Second)
	m.r.collector.advanceTo(m.thread, m.current.second)
}

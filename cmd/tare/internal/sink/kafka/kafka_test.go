package kafka

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, Kind()))
}

func open(t testing.TB, url string) *Kafka {
	t.Helper()
	return sinktest.Open[*Kafka](t, url, Kind())
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		c := hosts.NewKafka(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, c.URL()+"#timeout=2s") },
			Arrived: c.Arrived,
			Away:    c.Stop, Back: c.Start,
			Fail: c.Fail,
		}
	})
}

func TestKilled(t *testing.T) {
	c := hosts.NewKafka(t)
	sinktest.Killed(t, c.URL()+"#timeout=2s", sinktest.DefaultKills(), c.Stop, c.Start, c.Arrived)
}

// An event that is too large for every broker is dead; the other event of its batch arrives.
func TestTooLargeEventIsDead(t *testing.T) {
	c := hosts.NewKafka(t)
	k := open(t, c.URL())
	defer k.Close()
	b := sink.Batch{Events: []sink.Event{{Number: 7, Line: []byte(sinktest.Line("a"))}, {Number: 8, Line: []byte(sinktest.Line(strings.Repeat("x", 2<<20)))}}}
	result, err := k.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	if len(result.Dead) != 1 || result.Dead[0].Index != 1 || len(result.Again) > 0 {
		t.Errorf("%+v", result)
	}
	records := c.Records()
	assert.Equal(t, "records", len(records), 1)
	assert.Equal(t, "key", string(records[0].Key), `"a"`)
	assert.Equal(t, "name", string(records[0].Headers[0].Value), "00000000000000000000000000000000-7")
}

// Events that a broker refuses together are sent again in smaller parts, in order. Only an event
// that is refused alone is dead.
func TestOnlyWhatIsRefusedAloneIsDead(t *testing.T) {
	c := hosts.NewKafka(t)
	c.Bound(5000)
	k := open(t, c.URL()+"#key=one")
	defer k.Close()
	b, want := sized(50, 7, 49)
	result, err := k.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	var dead []int
	for _, d := range result.Dead {
		dead = append(dead, d.Index)
		assert.Contains(t, "reason", d.Reason, "MESSAGE_TOO_LARGE")
	}
	assert.Slices(t, "dead", dead, []int{7, 49})
	assert.Equal(t, "again", len(result.Again), 0)
	assert.Slices(t, "arrived", c.Arrived(), want)
}

// A batch stays in order if it takes longer to hand to the client than the broker takes to reject its
// beginning.
func TestLargeBatchStaysInOrder(t *testing.T) {
	c := hosts.NewKafka(t)
	c.Bound(5000)
	k := open(t, c.URL()+"#key=one")
	defer k.Close()
	b, want := sized(2000)
	result, err := k.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	assert.Equal(t, "dead", len(result.Dead), 0)
	assert.Equal(t, "again", len(result.Again), 0)
	assert.Slices(t, "arrived", c.Arrived(), want)
}

// If a part cannot be sent now, the parts after it wait as well, so that the order stays.
func TestPartsStayInOrder(t *testing.T) {
	c := hosts.NewKafka(t)
	c.Bound(5000)
	c.Fail(func(request int) sinktest.Fault {
		if request > 1 {
			return sinktest.Busy
		}
		return sinktest.None
	})
	k := open(t, c.URL()+"#key=one&timeout=5s")
	defer k.Close()
	b, lines := sized(20)
	result, err := k.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	assert.Equal(t, "dead", len(result.Dead), 0)
	arrived := c.Arrived()
	if len(arrived) == 0 || len(arrived) == len(lines) {
		t.Fatalf("%d arrived", len(arrived))
	}
	assert.Slices(t, "arrived", arrived, lines[:len(arrived)])
	var rest []int
	for i := len(arrived); i < len(lines); i++ {
		rest = append(rest, i)
	}
	assert.Slices(t, "again", result.Again, rest)
}

// sized returns n events that hardly shrink when compressed. Those whose index is in large have
// more than 8000 bytes; others are the lines of the rest.
func sized(n int, large ...int) (b sink.Batch, others []string) {
	random := rand.NewChaCha8([32]byte{})
	for i := range n {
		text := make([]byte, 400)
		if slices.Contains(large, i) {
			text = make([]byte, 8000)
		}
		_, _ = random.Read(text)
		line := sinktest.Line(fmt.Sprintf("%d-%x", i, text))
		b.Events = append(b.Events, sink.Event{Number: uint64(i), Line: []byte(line)})
		if !slices.Contains(large, i) {
			others = append(others, line)
		}
	}
	return b, others
}

// Send ends with its context, even if a batch was sent that is never answered. Otherwise such a
// batch would keep the service from ending.
func TestUnansweredBatchEnds(t *testing.T) {
	c := hosts.NewKafka(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Fail(func(request int) sinktest.Fault {
		if request == 2 {
			cancel()
		}
		return sinktest.Reset
	})
	k := open(t, c.URL()+"#timeout=1s")
	ended := make(chan error, 1)
	go func() {
		_, err := k.Send(ctx, sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
		ended <- err
	}()
	select {
	case err := <-ended:
		assert.ErrorIs(t, "send", err, context.Canceled)
	case <-time.After(10 * time.Second):
		t.Error("Send goes on 10 seconds after its context")
	}
	assert.NoError(t, "close", k.Close())
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"kafka://h:1":                             "no /TOPIC",
		"kafka://h:1/t#key=x":                     "neither id nor one",
		"kafka://h:1/t#tls=x":                     "neither on nor off",
		"kafka://u:p@h:1/t#sasl=x":                "scram-256",
		"kafka://h:1/t#timeout=x":                 "no duration",
		"kafka://u:p@h:1,g:2/t#key=one":           "",
		"kafka://u:p@h:1/t#sasl=scram-256":        "",
		"kafka://u:p@h:1/t#sasl=scram-512&tls=on": "",
	} {
		k, err := sinktest.Parse(t, url, Kind()).Open(sink.Settings{})
		if want != "" {
			assert.ErrorContains(t, url, err, want)
			continue
		}
		assert.NoError(t, url, err)
		if text := k.Sink.Promise().String(); strings.Contains(text, "u:p") {
			t.Errorf("%q has the password", text)
		}
		assert.NoError(t, "close", k.Sink.Close())
	}
}

// The trace of an event is sent as a header of its message.
func TestTraceparent(t *testing.T) {
	c := hosts.NewKafka(t)
	k := open(t, c.URL())
	defer k.Close()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	_, err := k.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Traced("a", trace))}, {Line: []byte(sinktest.Line("b"))}}})
	assert.NoError(t, "send", err)
	traces := map[string]string{}
	for _, r := range c.Records() {
		for _, h := range r.Headers {
			if h.Key == "traceparent" {
				traces[string(r.Key)] = string(h.Value)
			}
		}
	}
	assert.Equal(t, "traces", fmt.Sprint(traces), fmt.Sprint(map[string]string{`"a"`: trace}))
}

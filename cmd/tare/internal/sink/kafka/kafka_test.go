package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, func(t sink.Target) (sink.Sink, error) { return New(t) }))
}

// cluster is a broker in this process.
type cluster struct {
	*kfake.Cluster
	t    *testing.T
	away atomic.Bool
	fail atomic.Pointer[func(int) sinktest.Fault]
	n    atomic.Int64
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "events"))
	assert.NoError(t, "start", err)
	t.Cleanup(k.Close)
	c := &cluster{Cluster: k, t: t}
	k.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if c.away.Load() {
			return nil, errors.New("away"), true
		}
		if _, produce := r.(*kmsg.ProduceRequest); !produce || c.fail.Load() == nil {
			return nil, nil, false
		}
		switch (*c.fail.Load())(int(c.n.Add(1))) {
		case sinktest.None:
			return nil, nil, false
		case sinktest.Busy:
			return refusal(r.(*kmsg.ProduceRequest), kerr.NotEnoughReplicas), nil, true
		default:
			return nil, errors.New("reset"), true
		}
	})
	return c
}

// refusal answers a produce request with an error for each partition.
func refusal(r *kmsg.ProduceRequest, with *kerr.Error) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range r.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic = topic.Topic
		for _, partition := range topic.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, with.Code
			t.Partitions = append(t.Partitions, p)
		}
		response.Topics = append(response.Topics, t)
	}
	return response
}

func (c *cluster) url() string { return "kafka://" + strings.Join(c.ListenAddrs(), ",") + "/events" }

// records are all of the topic.
func (c *cluster) records() []*kgo.Record { return recordsOf(c.t, "events", c.ListenAddrs()...) }

// recordsOf are those of a topic of one partition, up to where it ends now,
// however long that takes.
func recordsOf(t testing.TB, topic string, brokers ...string) (list []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	assert.NoError(t, "client", err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for end := endOf(ctx, t, client, topic); len(list) == 0 || list[len(list)-1].Offset+1 < end; {
		if end == 0 {
			return nil
		}
		list = append(list, client.PollFetches(ctx).Records()...)
		assert.NoError(t, "read the topic", ctx.Err())
	}
	return list
}

// endOf is where a topic of one partition ends.
func endOf(ctx context.Context, t testing.TB, client *kgo.Client, topic string) int64 {
	t.Helper()
	request := kmsg.NewPtrListOffsetsRequest()
	one, first := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	first.Timestamp = -1 // the end
	one.Topic, one.Partitions = topic, append(one.Partitions, first)
	request.Topics = append(request.Topics, one)
	for {
		response, err := request.RequestWith(ctx, client)
		if err == nil && response.Topics[0].Partitions[0].ErrorCode == 0 {
			return response.Topics[0].Partitions[0].Offset
		}
		assert.NoError(t, "where the topic ends", ctx.Err())
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *cluster) arrived() (events []string) {
	for _, r := range c.records() {
		events = append(events, string(r.Value))
	}
	return events
}

func open(t testing.TB, url string) *Kafka {
	t.Helper()
	list, err := sink.ParseTargets(url)
	assert.NoError(t, "parse", err)
	k, err := New(list[0])
	assert.NoError(t, "open", err)
	return k
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		c := newCluster(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, c.url()+"#timeout=2s") },
			Arrived: c.arrived,
			Away:    func() { c.away.Store(true) }, Back: func() { c.away.Store(false) },
			Fail: func(f func(int) sinktest.Fault) { c.n.Store(0); c.fail.Store(&f) },
		}
	})
}

func TestKilled(t *testing.T) {
	c := newCluster(t)
	sinktest.Killed(t, c.url()+"#timeout=2s", sinktest.DefaultKills(), func() { c.away.Store(true) }, func() { c.away.Store(false) }, c.arrived)
}

// An event that no broker will take is dead, and the others are not.
func TestTooLargeEventIsDead(t *testing.T) {
	c := newCluster(t)
	k := open(t, c.url())
	defer k.Close()
	b := sink.Batch{Events: []sink.Event{{Number: 7, Line: []byte(sinktest.Line("a"))}, {Number: 8, Line: []byte(sinktest.Line(strings.Repeat("x", 2<<20)))}}}
	result, err := k.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	if len(result.Dead) != 1 || result.Dead[0].Index != 1 || len(result.Again) > 0 {
		t.Errorf("%+v", result)
	}
	records := c.records()
	assert.Equal(t, "records", len(records), 1)
	assert.Equal(t, "key", string(records[0].Key), `"a"`)
	assert.Equal(t, "name", string(records[0].Headers[0].Value), "00000000000000000000000000000000-7")
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
		list, err := sink.ParseTargets(url)
		assert.NoError(t, url, err)
		k, err := New(list[0])
		if want != "" {
			assert.ErrorContains(t, url, err, want)
			continue
		}
		assert.NoError(t, url, err)
		if text := k.Promise().String(); strings.Contains(text, "u:p") {
			t.Errorf("%q has the password", text)
		}
		assert.NoError(t, "close", k.Close())
	}
}

// An event's trace is a header of its message.
func TestTraceparent(t *testing.T) {
	c := newCluster(t)
	k := open(t, c.url())
	defer k.Close()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	_, err := k.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Traced("a", trace))}, {Line: []byte(sinktest.Line("b"))}}})
	assert.NoError(t, "send", err)
	traces := map[string]string{}
	for _, r := range c.records() {
		for _, h := range r.Headers {
			if h.Key == "traceparent" {
				traces[string(r.Key)] = string(h.Value)
			}
		}
	}
	assert.Equal(t, "traces", fmt.Sprint(traces), fmt.Sprint(map[string]string{`"a"`: trace}))
}

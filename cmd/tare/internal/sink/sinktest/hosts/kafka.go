// Package hosts starts servers for tests: Kafka and NATS in this process, and an installed PostgreSQL.
package hosts

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

// Kafka is a broker in this process. It has the topic events with one partition.
type Kafka struct {
	*kfake.Cluster
	t        *testing.T
	away     atomic.Bool                              // no request gets a response
	fail     atomic.Pointer[func(int) sinktest.Fault] // fault of the n-th produce request; nil means none
	n        atomic.Int64                             // number of produce requests since Fail
	maxBatch atomic.Int64                             // largest batch in bytes; 0 means unlimited
}

// Stop makes the broker send no responses until Start.
func (c *Kafka) Stop() { c.away.Store(true) }

// Start makes the broker respond again.
func (c *Kafka) Start() { c.away.Store(false) }

// Fail sets the function that returns the fault of each produce request, counted from 1.
func (c *Kafka) Fail(fault func(request int) sinktest.Fault) {
	c.n.Store(0)
	c.fail.Store(&fault)
}

// Bound limits a batch of records in bytes, like max.message.bytes of a topic.
func (c *Kafka) Bound(maxBatch int) { c.maxBatch.Store(int64(maxBatch)) }

// NewKafka starts a broker.
func NewKafka(t *testing.T) *Kafka {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "events"))
	assert.NoError(t, "start", err)
	t.Cleanup(k.Close)
	c := &Kafka{Cluster: k, t: t}
	k.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl() // keep this function
		response, err := c.interceptRequest(r)
		return response, err, response != nil || err != nil // otherwise the cluster itself responds
	})
	return c
}

// interceptRequest returns the response to a request that must fail. An error closes the connection. Otherwise
// both are nil.
func (c *Kafka) interceptRequest(r kmsg.Request) (kmsg.Response, error) {
	if c.away.Load() {
		return nil, errors.New("away")
	}
	produce, ok := r.(*kmsg.ProduceRequest)
	if !ok {
		return nil, nil
	}
	if maxBatch := int(c.maxBatch.Load()); maxBatch > 0 && len(produce.Topics[0].Partitions[0].Records) > maxBatch {
		return errorResponse(produce, kerr.MessageTooLarge), nil
	}
	fault := c.fail.Load()
	if fault == nil {
		return nil, nil
	}
	switch (*fault)(int(c.n.Add(1))) {
	case sinktest.None:
		return nil, nil
	case sinktest.Busy:
		return errorResponse(produce, kerr.NotEnoughReplicas), nil
	}
	return nil, errors.New("reset")
}

func errorResponse(r *kmsg.ProduceRequest, err *kerr.Error) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range r.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic, t.TopicID = topic.Topic, topic.TopicID
		for _, partition := range topic.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, err.Code
			t.Partitions = append(t.Partitions, p)
		}
		response.Topics = append(response.Topics, t)
	}
	return response
}

// URL returns the URL of the sink.
func (c *Kafka) URL() string { return "kafka://" + strings.Join(c.ListenAddrs(), ",") + "/events" }

// Records returns all records of the topic.
func (c *Kafka) Records() []*kgo.Record { return RecordsOf(c.t, "events", c.ListenAddrs()...) }

// RecordsOf returns the records of a topic with one partition, up to its current end.
func RecordsOf(t testing.TB, topic string, brokers ...string) (list []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	assert.NoError(t, "client", err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for end := findEnd(ctx, t, client, topic); len(list) == 0 || list[len(list)-1].Offset+1 < end; {
		if end == 0 {
			return nil
		}
		list = append(list, client.PollFetches(ctx).Records()...)
		assert.NoError(t, "read the topic", ctx.Err())
	}
	return list
}

// Count returns the number of events.
func (c *Kafka) Count() int {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	assert.NoError(c.t, "client", err)
	defer client.Close()
	return int(findEnd(context.Background(), c.t, client, "events"))
}

// findEnd returns the end offset of a topic with one partition. It retries until ctx ends.
func findEnd(ctx context.Context, t testing.TB, client *kgo.Client, topic string) int64 {
	t.Helper()
	request := kmsg.NewPtrListOffsetsRequest()
	topicRequest, partition := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp = -1 // the end
	topicRequest.Topic, topicRequest.Partitions = topic, append(topicRequest.Partitions, partition)
	request.Topics = append(request.Topics, topicRequest)
	for {
		response, err := request.RequestWith(ctx, client)
		if err == nil && response.Topics[0].Partitions[0].ErrorCode == 0 {
			return response.Topics[0].Partitions[0].Offset
		}
		assert.NoError(t, "where the topic ends", ctx.Err())
		time.Sleep(100 * time.Millisecond)
	}
}

// Arrived returns the events of the topic.
func (c *Kafka) Arrived() (events []string) {
	for _, r := range c.Records() {
		events = append(events, string(r.Value))
	}
	return events
}

package kafka

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/internal/assert"
)

const realAddr = "127.0.0.1:19092"

// topic creates a topic with one partition and returns its name.
func topic(t testing.TB, n int) string {
	t.Helper()
	name := fmt.Sprintf("events-%d-%d", time.Now().UnixNano(), n)
	client, err := kgo.NewClient(kgo.SeedBrokers(realAddr))
	assert.NoError(t, "client", err)
	defer client.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = name, 1, 1
	request.Topics = append(request.Topics, one)
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		response, err := request.RequestWith(context.Background(), client)
		if err == nil && response.Topics[0].ErrorCode == 0 {
			return name
		}
		if time.Now().After(end) {
			t.Fatal(err, response)
		}
	}
}

// values returns the values of all records that a topic has now.
func values(t testing.TB, name string) (events []string) {
	t.Helper()
	for _, r := range hosts.RecordsOf(t, name, realAddr) {
		events = append(events, string(r.Value))
	}
	return events
}

func TestRealKafka(t *testing.T) {
	far := sinktest.NewReal(t, "kafka")
	n := 0
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		n++
		name := topic(t, n)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, "kafka://"+realAddr+"/"+name+"#timeout=5s") },
			Arrived: func() []string { return values(t, name) },
			Away:    far.Kill, Back: far.Start,
		}
	})
	t.Run("killed", func(t *testing.T) {
		name := topic(t, 0)
		sinktest.Killed(t, "kafka://"+realAddr+"/"+name+"#timeout=5s", sinktest.RealKills(), far.Kill, far.Start, func() []string { return values(t, name) })
	})
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
)

// receiverConfig is the configuration of the receiver events.
type receiverConfig struct {
	confighttp.ServerConfig `mapstructure:",squash"`
	Path                    string `mapstructure:"path"` // path of the endpoint, without a slash at its end; requests may have one
}

func defaultReceiverConfig() component.Config {
	return &receiverConfig{ServerConfig: confighttp.NewDefaultServerConfig(), Path: "/ingest"}
}

// eventReceiver is the receiver events of the collector: it accepts JSON arrays of objects over HTTP, and makes a
// log record of each object.
type eventReceiver struct {
	config   *receiverConfig
	settings receiver.Settings
	next     consumer.Logs
	server   *http.Server
	done     chan struct{} // closed when the goroutine of the server has ended
}

func newReceiver(_ context.Context, s receiver.Settings, c component.Config, next consumer.Logs) (receiver.Logs, error) {
	return &eventReceiver{config: c.(*receiverConfig), settings: s, next: next, done: make(chan struct{})}, nil
}

// Start opens the port and starts the HTTP server.
func (e *eventReceiver) Start(ctx context.Context, host component.Host) error {
	mux := http.NewServeMux()
	for _, path := range []string{e.config.Path, e.config.Path + "/{$}"} {
		mux.HandleFunc("POST "+path, e.handlePost)
	}
	listener, err := e.config.ToListener(ctx)
	if err != nil {
		return err
	}
	if e.server, err = e.config.ToServer(ctx, host.GetExtensions(), e.settings.TelemetrySettings, mux); err != nil {
		_ = listener.Close()
		return err
	}
	go func() {
		defer close(e.done)
		if err := e.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	}()
	return nil
}

// Shutdown stops the server after the requests in flight have ended.
func (e *eventReceiver) Shutdown(ctx context.Context) error {
	if e.server == nil {
		return nil
	}
	err := e.server.Shutdown(ctx)
	<-e.done
	return err
}

// handlePost passes the events of a request to the pipeline, and responds after the pipeline has accepted them.
func (e *eventReceiver) handlePost(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	logs, err := toLogs(body, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := e.next.ConsumeLogs(r.Context(), logs); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// toLogs returns a log record per object of body, which is a JSON array of objects. now is the time of
// receipt.
func toLogs(body []byte, now time.Time) (plog.Logs, error) {
	logs := plog.NewLogs()
	var list []map[string]any
	if err := json.Unmarshal(body, &list); err != nil {
		return logs, err
	}
	out := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	out.EnsureCapacity(len(list))
	for _, object := range list {
		record := out.AppendEmpty()
		record.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
		if err := record.Body().FromRaw(object); err != nil {
			return logs, err
		}
	}
	return logs, nil
}

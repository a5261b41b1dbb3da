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

// receiving is how the receiver is configured.
type receiving struct {
	confighttp.ServerConfig `mapstructure:",squash"`
	Path                    string `mapstructure:"path"` // without a slash at its end, which requests may have
}

func receives() component.Config {
	return &receiving{ServerConfig: confighttp.NewDefaultServerConfig(), Path: "/ingest"}
}

// endpoint takes arrays of JSON objects and makes a log record of each.
type endpoint struct {
	config   *receiving
	settings receiver.Settings
	next     consumer.Logs
	server   *http.Server
	done     chan struct{} // closed when the server has ended
}

func newReceiver(_ context.Context, s receiver.Settings, c component.Config, next consumer.Logs) (receiver.Logs, error) {
	return &endpoint{config: c.(*receiving), settings: s, next: next, done: make(chan struct{})}, nil
}

// Start listens.
func (e *endpoint) Start(ctx context.Context, host component.Host) error {
	mux := http.NewServeMux()
	for _, path := range []string{e.config.Path, e.config.Path + "/{$}"} {
		mux.HandleFunc("POST "+path, e.take)
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

// Shutdown answers what is under way and ends the server.
func (e *endpoint) Shutdown(ctx context.Context) error {
	if e.server == nil {
		return nil
	}
	err := e.server.Shutdown(ctx)
	<-e.done
	return err
}

func (e *endpoint) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status := http.StatusBadRequest
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	logs, err := records(body, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := e.next.ConsumeLogs(r.Context(), logs); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// records makes a log record of each object in body.
func records(body []byte, now time.Time) (plog.Logs, error) {
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

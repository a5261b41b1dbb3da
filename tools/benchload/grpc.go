package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// This file compares gRPC clients: it has the calls' server, and the load generators ghz and fortio as
// tools.

// healthMethod is a method of gRPC's health service, which every tool knows or can read from a file.
const healthMethod = "grpc.health.v1.Health/Check"

// healthProto defines the health service for ghz, which reads it from a file.
const healthProto = `syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { int32 status = 1; }
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
`

// serveHealth answers every call with status SERVING.
func serveHealth(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	_, _ = w.Write([]byte{0, 0, 0, 0, 2, 8, 1}) // a gRPC message of two bytes: field 1 is 1
	w.Header().Set("Grpc-Status", "0")
}

// ghz is the load generator ghz (ghz.sh).
type ghz struct{ proto string } // path of the file with healthProto

func (ghz) name() string    { return "ghz" }
func (ghz) program() string { return "ghz" }

func (g ghz) args(j job) []string {
	if j.way != grpc || j.rate > 0 {
		return nil
	}
	n := strconv.Itoa(j.connections)
	return []string{"--insecure", "--proto", g.proto, "--call", healthMethod, "-d", "{}", "-c", n, "--connections", n,
		"-z", j.each.String(), "--duration-stop", "wait", "-O", "json", j.addr}
}

func (ghz) read(output []byte) (r report, err error) {
	var result struct {
		Codes map[string]int64 `json:"statusCodeDistribution"`
	}
	if err := json.Unmarshal(output, &result); err != nil {
		return r, err
	}
	return reportCodes("ghz", result.Codes, "OK")
}

// fortio is the load generator fortio (fortio.org).
type fortio struct{}

func (fortio) name() string    { return "fortio" }
func (fortio) program() string { return "fortio" }

func (fortio) args(j job) []string {
	if j.way != grpc || j.rate > 0 {
		return nil
	}
	return []string{"load", "-grpc", "-quiet", "-qps", "0", "-c", strconv.Itoa(j.connections), "-t", j.each.Round(time.Second).String(), "-json", "-", j.addr}
}

func (fortio) read(output []byte) (r report, err error) {
	var result struct{ RetCodes map[string]int64 }
	if err := json.Unmarshal(output, &result); err != nil {
		return r, err
	}
	return reportCodes("fortio", result.RetCodes, "SERVING")
}

// reportCodes returns a report of the number of calls, by status code. A code other than success is an
// error.
func reportCodes(tool string, calls map[string]int64, success string) (report, error) {
	if len(calls) != 1 || calls[success] == 0 {
		return report{}, fmt.Errorf("%s reports calls by status: %v", tool, calls)
	}
	return report{Requests: calls[success]}, nil
}

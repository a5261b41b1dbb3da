//go:build !unix

package main

import "os/exec"

// This system has no process groups and no memory limit: these functions do nothing.

func setGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

func limitMemory(uint64) error { return nil }

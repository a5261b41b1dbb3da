// Package model holds the types that easyjson generates code for: those of app
// ingest over again, because what is generated are methods, and a package of
// its own, because easyjson refuses package main. As the leaf is a module of
// its own, it is generated with GOWORK=off.
package model

import "github.com/tarebench/tare/apps/ingest"

//go:generate go run github.com/mailru/easyjson/easyjson -no_std_marshalers model.go

// Records is a batch.
//
//easyjson:json
type Records []Record

// Record is the app's Record.
//
//easyjson:json
type Record struct {
	ID        string      `json:"id"`
	Timestamp ingest.Time `json:"timestamp"`
	Metadata  Metadata    `json:"metadata"`
}

// RawRecords is a batch of records whose metadata is any object.
//
//easyjson:json
type RawRecords []RawRecord

// RawRecord is the app's RawRecord.
//
//easyjson:json
type RawRecord struct {
	ID        string      `json:"id"`
	Timestamp ingest.Time `json:"timestamp"`
	Metadata  ingest.Raw  `json:"metadata"`
}

// Metadata is the app's Metadata.
//
//easyjson:json
type Metadata struct {
	UserID       string  `json:"user_id"`
	SessionID    string  `json:"session_id"`
	PageURL      string  `json:"page_url"`
	Referrer     string  `json:"referrer"`
	UserAgent    string  `json:"user_agent"`
	IPAddress    string  `json:"ip_address"`
	Country      string  `json:"country"`
	City         string  `json:"city"`
	Language     string  `json:"language"`
	ScreenWidth  int     `json:"screen_width"`
	ScreenHeight int     `json:"screen_height"`
	Campaign     string  `json:"campaign"`
	Medium       string  `json:"medium"`
	DurationMS   int     `json:"duration_ms"`
	ScrollDepth  float64 `json:"scroll_depth"`
	LoggedIn     bool    `json:"logged_in"`
	AppVersion   string  `json:"app_version"`
}

// Package model has copies of app ingest's types, for which ffjson generates methods. Run go generate with
// GOWORK=off, because the contender is a separate module.
package model

import "github.com/tarebench/tare/apps/ingest"

//go:generate go run github.com/pquerna/ffjson -force-regenerate model.go

// Record is the app's Record.
type Record struct {
	ID        string      `json:"id"`
	Timestamp ingest.Time `json:"timestamp"`
	Metadata  Metadata    `json:"metadata"`
}

// RawRecord is the app's RawRecord.
type RawRecord struct {
	ID        string      `json:"id"`
	Timestamp ingest.Time `json:"timestamp"`
	Metadata  ingest.Raw  `json:"metadata"`
}

// Metadata is the app's Metadata.
type Metadata struct {
	Index      int     `json:"index"`
	GUID       string  `json:"guid"`
	IsActive   bool    `json:"isActive"`
	Balance    string  `json:"balance"`
	Picture    string  `json:"picture"`
	Age        int     `json:"age"`
	EyeColor   string  `json:"eyeColor"`
	Name       string  `json:"name"`
	Gender     string  `json:"gender"`
	Company    string  `json:"company"`
	Email      string  `json:"email"`
	Phone      string  `json:"phone"`
	Address    string  `json:"address"`
	About      string  `json:"about"`
	Registered string  `json:"registered"`
	Latitude   float64 `json:"latitude"`
	Longitude  float64 `json:"longitude"`
}

// Package model has copies of app ingest's types, for which easyjson generates methods. They are not in
// package main, because easyjson rejects it. Run go generate with GOWORK=off, because the contender is a
// separate module.
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

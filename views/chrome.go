package views

import "time"

// Section is a place of the navigation.
type Section string

// The sections, in the order of the navigation.
const (
	SectionNone      Section = ""
	SectionLive      Section = "live"
	SectionServices  Section = "services"
	SectionProxies   Section = "proxies"
	SectionExplain   Section = "explain"
	SectionWaiting   Section = "waiting"
	SectionPushes    Section = "pushes"
	SectionSlices    Section = "slices"
	SectionConfig    Section = "config"
	SectionClusters  Section = "clusters"
	SectionSnapshots Section = "snapshots"
)

// State is the moment that a page shows.
type State struct {
	// Version of the snapshot that everything on the page comes from.
	Version uint64 `json:"version"`
	// LastEvent is when the newest change was seen, zero before the first.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	// Seq is the newest transition.
	Seq   uint64 `json:"seq"`
	Ready bool   `json:"ready"`
	// Source says where the objects come from.
	Source string `json:"source"`
}

// Chrome is what surrounds the content of a page.
type Chrome struct {
	Title   string
	Section Section
	// Query is the text in the search box.
	Query string
	State State
	// Now is the moment of rendering, from which ages are counted.
	Now time.Time
	// Assets is the path of the static files, without a slash at the end.
	Assets string
	// JSON is the URL of the twin, "" if the page has none.
	JSON string
	// Curl is the command that fetches the twin, without any secret.
	Curl string
	// Tokens tells that there is a token that Curl can be given.
	Tokens bool
	// Live is the query of the websocket for what concerns this page.
	Live string
	// Warnings are said at the top of the page.
	Warnings []string
	// Troubles are what is wrong.
	Troubles Troubles
	// Exported tells that the state was exported, and does not change.
	Exported bool
	// Anonymous leaves out what only somebody who is logged in may use.
	Anonymous bool
}

type navItem struct {
	section     Section
	label, href string
	key         string
}

func navItems() []navItem {
	return []navItem{
		{SectionLive, "Live", "/", "l"},
		{SectionServices, "Services", "/services", "s"},
		{SectionProxies, "Proxies", "/proxies", "p"},
		{SectionExplain, "Explain", "/explain", "e"},
		{SectionWaiting, "Waiting", "/waiting", "w"},
		{SectionPushes, "Pushes", "/pushes", "u"},
		{SectionSlices, "Slices", "/slices", "i"},
		{SectionConfig, "Config", "/config", "c"},
		{SectionClusters, "Clusters", "/clusters", "k"},
		{SectionSnapshots, "Snapshots", "/snapshots", "n"},
	}
}

// Page says which part of a long table is shown.
type Page struct {
	// First and Last are the numbers of the rows shown, from 1; both are 0 if
	// there are none.
	First int `json:"first"`
	Last  int `json:"last"`
	Total int `json:"total"`
	// Prev and Next are URLs, "" if there is no such page.
	Prev string `json:"prev,omitempty"`
	Next string `json:"next,omitempty"`
}

// Link is a place to go, with a word for it.
type Link struct {
	Text string `json:"text"`
	Href string `json:"href"`
}

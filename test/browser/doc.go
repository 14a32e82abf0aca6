// Package browser holds the tests that look at the dashboard as people do: in a
// real browser, at the size of a laptop and of a phone, in light and in dark.
package browser

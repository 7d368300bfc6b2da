// Numbers and times as a dashboard shows them: short, and always of about the same width.

const BARS = '▁▂▃▄▅▆▇█'

/** 0 to 99999 as they are, then 123k, 4.5M. */
export function count(value: number): string {
  if (value < 100_000) return String(Math.round(value))
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  const millions = value / 1e6
  return millions < 99.95 ? `${millions.toFixed(1)}M` : `${Math.round(millions)}M`
}

/** A rate: small ones with a decimal. */
export function rate(value: number): string {
  return value > 0 && value < 9.95 ? value.toFixed(1) : count(value)
}

/** Seconds as 0s, 12s, 3m05, 2h10, 4d. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole}s`
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}`
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}`
  return `${Math.floor(whole / 86_400)}d`
}

/** How long ago a moment was, or in how long it comes; the API gives times as texts. */
export function since(time: Date | string | null, now: number): string {
  if (time === null) return '-'
  const seconds = (now - new Date(time).getTime()) / 1000
  return seconds >= -0.5 ? duration(seconds) : `in ${duration(-seconds)}`
}

/** The last values as bars of eight heights, the newest at the right; an underscore is none. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-Math.max(1, width))
  const most = Math.max(...shown)
  return shown
    .map(value => (value <= 0 ? '_' : (BARS[Math.min(7, Math.ceil((value / most) * 8) - 1)] ?? '_')))
    .join('')
    .padStart(width, ' ')
}

/** 2026-11-21 01:55:07Z */
export const clock = (time: number) => `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`

// A small plot of numbers as inline SVG. The policy of pages allows no styles, so it has only attributes.
import { escaped, label } from '../components.js'

export interface Bar {
  readonly label: string
  readonly count: number
}

const WIDTH = 8
const GAP = 2
const HEIGHT = 60

/** Returns a bar for each number, with its label as a title; `name` says what the plot shows. */
export function barPlot(name: string, bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  const width = bars.length * (WIDTH + GAP)
  const shapes = bars.map(({ label, count }, at) => {
    // A number that is not zero can always be seen.
    const height = count === 0 ? 1 : Math.max(2, Math.round((count / most) * HEIGHT))
    const opacity = count === 0 ? ' opacity="0.3"' : ''
    return `<rect x="${at * (WIDTH + GAP)}" y="${HEIGHT - height}" width="${WIDTH}" height="${height}"${opacity}><title>${escaped(label)}: ${count}</title></rect>`
  })
  return `<svg viewBox="0 0 ${width} ${HEIGHT}" width="100%" height="${HEIGHT}" preserveAspectRatio="none" fill="currentColor" role="img" aria-label="${escaped(name)}">${shapes.join('')}</svg>`
}

/** Colours that differ from each other on light and dark pages. */
const COLORS = ['#3b7dd8', '#d9822b', '#2f9e6e', '#b04fc4', '#c94a53', '#7a8a1f']
const OTHER = '#8a949e'

interface Share {
  readonly name: string
  readonly share: number
}

/** Returns a bar whose parts are as long as the shares, and a list that names them. */
export function languageBar(shares: readonly Share[]): string {
  if (shares.length === 0) return ''
  const parts = shares.map(({ name, share }, at) => ({ name, share, color: COLORS[at] ?? OTHER }))
  let from = 0
  const shapes = parts.map(({ share, color }) => {
    const shape = `<rect x="${from.toFixed(2)}" width="${share.toFixed(2)}" height="8" fill="${color}"/>`
    from += share
    return shape
  })
  const names = parts.map(
    ({ name, share, color }) => `<li>${label(`${name} ${share < 1 ? '<1' : Math.round(share)} %`, color)}</li>`
  )
  return `<svg viewBox="0 0 100 8" width="100%" height="8" preserveAspectRatio="none" aria-hidden="true">${shapes.join('')}</svg><ul class="plain row">${names.join('')}</ul>`
}

// A plot of the last pipelines: how long each took, and how it ended.
import type { PipelineRun } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { lasted } from '../components.js'

const HEIGHT = 60
const STEP = 8
const FEWEST = 3

/** Returns the plot as SVG; empty when there are too few pipelines to see anything. */
export function plotOf(runs: readonly PipelineRun[]): string {
  if (runs.length < FEWEST) return ''
  const longest = Math.max(1, ...runs.map(({ duration }) => duration))
  const good = runs.filter(({ status }) => status === 'success').length
  const words = `The last ${runs.length} pipelines: ${good} succeeded, ${runs.length - good} failed, the longest took ${lasted(longest)}`
  const bars = runs.map(({ id, status, duration }, at) => {
    const height = Math.max(2, Math.round((duration / longest) * HEIGHT))
    const tone = status === 'success' ? 'good' : 'bad'
    return `<rect class="${tone}" x="${at * STEP}" y="${HEIGHT - height}" width="${STEP - 2}" height="${height}"><title>#${id}: ${status}, ${lasted(duration)}</title></rect>`
  })
  const width = runs.length * STEP
  return `<figure class="plot"><svg role="img" aria-label="${words}" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}">${bars.join('')}</svg><figcaption class="soft">${words}.</figcaption></figure>`
}

// Reads `artifacts`: the files that a build keeps.
import { parseDuration } from '../../lib/duration.js'
import { ARTIFACT_ACCESS, ARTIFACT_WHENS, type ArtifactAccess, type CiArtifacts } from '../config-types.js'
import {
  checkKeys,
  given,
  NAME_LIMIT,
  readChoice,
  readFlag,
  readList,
  readSection,
  readText,
  reportAt,
  type Section
} from '../config-values.js'

/** Reports that later versions show on their pages. Version 3 of the API has no place for them. */
const SHOWN_REPORTS = [
  ...['accessibility', 'annotations', 'api_fuzzing', 'browser_performance', 'cluster_image_scanning', 'codequality'],
  ...['container_scanning', 'coverage_fuzzing', 'coverage_report', 'cyclonedx', 'dast', 'dependency_scanning', 'junit'],
  ...['license_scanning', 'load_performance', 'metrics', 'performance', 'requirements', 'repository_xray', 'sast'],
  ...['secret_detection', 'terraform']
]
/** The most patterns of files with variables. */
const MOST_DOTENV_PATHS = 10

export function readArtifacts(section: Section): CiArtifacts | null {
  const value = given(section, 'artifacts')
  if (Array.isArray(value) && value.length === 0) return null
  const artifacts = readSection(section, 'artifacts')
  if (!artifacts || artifacts.entries.size === 0) return null
  checkKeys(
    artifacts,
    ['name', 'paths', 'exclude', 'untracked', 'when', 'expire_in', 'reports', 'public', 'access'],
    [],
    ['expose_as']
  )
  return {
    name: readText(artifacts, 'name', NAME_LIMIT),
    paths: readList(artifacts, 'paths', { check: pathProblem }) ?? [],
    exclude: readList(artifacts, 'exclude', { check: pathProblem }) ?? [],
    untracked: readFlag(artifacts, 'untracked'),
    when: readChoice(artifacts, 'when', ARTIFACT_WHENS, 'on_success'),
    ...readExpiry(artifacts),
    dotenv: readDotenv(artifacts),
    access: readAccess(artifacts)
  }
}

/** Reads the patterns of files whose variables later builds get. */
function readDotenv(artifacts: Section): string[] {
  const reports = readSection(artifacts, 'reports')
  if (!reports) return []
  checkKeys(reports, ['dotenv'], [], SHOWN_REPORTS)
  const paths = readList(reports, 'dotenv', { single: true, check: pathProblem }) ?? []
  if (paths.length > MOST_DOTENV_PATHS) reportAt(reports, 'dotenv', `are more than ${MOST_DOTENV_PATHS}`)
  return paths
}

function readAccess(artifacts: Section): ArtifactAccess {
  const { entries } = artifacts
  if (entries.has('public') && entries.has('access')) {
    reportAt(artifacts, 'access', 'cannot be combined with public')
  }
  if (given(artifacts, 'public') !== undefined) return readFlag(artifacts, 'public') ? 'all' : 'developer'
  return readChoice(artifacts, 'access', ARTIFACT_ACCESS, 'all')
}

/** Artifacts are collected in one project directory and unpacked in another, so no path may lead out of it. */
function pathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'should not be empty'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return 'should be relative to the project directory'
  return path.split(/[\\/]/).includes('..') ? 'should not contain `..`' : undefined
}

function readExpiry(artifacts: Section): Pick<CiArtifacts, 'expireIn' | 'expiry'> {
  const value = given(artifacts, 'expire_in')
  if (value === undefined || value === 'never') return { expireIn: null, expiry: null }
  const isNumber = typeof value === 'object' && value !== null && 'number' in value
  const text = isNumber ? value.number : value
  const seconds = typeof text === 'string' ? parseDuration(text) : undefined
  if (typeof text === 'string' && seconds !== undefined && seconds > 0) return { expireIn: seconds, expiry: text }
  reportAt(artifacts, 'expire_in', 'should be a duration such as `3 days`, or `never`')
  return { expireIn: null, expiry: null }
}

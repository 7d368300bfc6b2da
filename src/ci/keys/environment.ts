// Reads `environment`: the place that a build deploys to.
import { type CiEnvironment, ENVIRONMENT_ACTIONS, ENVIRONMENT_TIERS, type EnvironmentTier } from '../config-types.js'
import {
  checkKeys,
  given,
  NAME_LIMIT,
  readChoice,
  readSection,
  readText,
  reportAt,
  type Section
} from '../config-values.js'
import { readSeconds } from './timing.js'

const LONGEST_STAY = 5 * 365 * 86_400
const KEYS = ['name', 'url', 'action', 'on_stop', 'auto_stop_in', 'deployment_tier']

export function readEnvironment(section: Section): CiEnvironment | null {
  const value = given(section, 'environment')
  if (typeof value === 'string') {
    const name = checkedName(section, 'environment', readText(section, 'environment', NAME_LIMIT))
    return name === null ? null : { name, url: null, action: 'start', onStop: null, autoStopIn: null, tier: null }
  }
  const environment = readSection(section, 'environment')
  if (!environment) return null
  // Runners and scripts use a cluster, this service does not.
  checkKeys(environment, KEYS, ['deployment'], ['kubernetes'])
  if (given(environment, 'name') === undefined) reportAt(environment, 'name', 'is missing')
  const name = checkedName(environment, 'name', readText(environment, 'name', NAME_LIMIT))
  const rest = {
    url: readText(environment, 'url', NAME_LIMIT),
    action: readChoice(environment, 'action', ENVIRONMENT_ACTIONS, 'start'),
    onStop: readText(environment, 'on_stop', NAME_LIMIT),
    autoStopIn: readStay(environment),
    tier: readTier(environment)
  }
  return name === null ? null : { name, ...rest }
}

function readStay(environment: Section): number | null {
  if (given(environment, 'auto_stop_in') === 'never') return null
  return readSeconds(environment, 'auto_stop_in', LONGEST_STAY, '5 years, or `never`')
}

function readTier(environment: Section): EnvironmentTier | null {
  if (given(environment, 'deployment_tier') === undefined) return null
  return readChoice(environment, 'deployment_tier', ENVIRONMENT_TIERS, 'other')
}

function checkedName(section: Section, key: string, name: string | null): string | null {
  if (name === null || /^[A-Za-z0-9_\-/${}. ]+$/.test(name)) return name
  reportAt(section, key, 'should contain only letters, digits, spaces and - _ / $ { } .')
  return null
}

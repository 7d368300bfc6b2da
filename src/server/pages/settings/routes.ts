// The settings of projects and groups.
import type { FastifyPluginAsync } from 'fastify'
import { protectedBranchPages } from './branches.js'
import { deployKeyPages } from './deploy-keys.js'
import { groupSettingPages } from './group.js'
import { projectHookPages } from './hooks.js'
import { mirrorPages } from './mirrors.js'
import { projectSettingPages } from './project.js'
import { projectRunnerPages } from './runners.js'
import { servicePages } from './services.js'
import { triggerPages } from './triggers.js'
import { variablePages } from './variables.js'

export const settingPages: FastifyPluginAsync = async app => {
  await app.register(projectSettingPages)
  await app.register(groupSettingPages)
  await app.register(protectedBranchPages)
  await app.register(deployKeyPages)
  await app.register(projectHookPages)
  await app.register(mirrorPages)
  await app.register(servicePages)
  await app.register(variablePages)
  await app.register(projectRunnerPages)
  await app.register(triggerPages)
}

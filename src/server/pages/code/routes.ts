// The pages of a repository.
import type { FastifyPluginAsync } from 'fastify'
import { filePages } from './files.js'

export const codePages: FastifyPluginAsync = async app => {
  await app.register(filePages)
}

import { testAccess } from '../../access/matrix.js'
import { fillWithBuild } from '../builds/make-builds.js'
import { access as repository } from './repository.access.js'

testAccess([repository], fillWithBuild)

# A project that uses an installed dtc, of install.test.
cmake_minimum_required(VERSION 3.25)
project(fit LANGUAGES NONE)
find_package(dtc 0.1 REQUIRED)
if(ARGUMENTS)
  dtc_add_training_program(wrong ${ARGUMENTS})
endif()
dtc_add_training_program(fit MODEL mlp.onnx OPTIONS --batch 8 --loss mse --init normal --dp 2)
